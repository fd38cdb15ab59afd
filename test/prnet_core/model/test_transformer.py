"""The transformer against a direct computation with every head and every query written out."""

import torch
from torch.nn.functional import layer_norm, relu

from prnet_core.model import PRNetConfig, Transformer
from prnet_core.model.attention import ROWS, in_one_memory
from prnet_core.model.transformer import Attention

CONFIG = PRNetConfig(embedding=16, feed_forward=24, num_heads=4)


def direct_attention(layer: Attention, queries, memory):
    outputs = []
    for q_row in queries:
        heads = []
        for h in range(4):
            columns = slice(4 * h, 4 * h + 4)
            q = layer.query(q_row)[columns]
            keys, values = layer.key(memory)[:, columns], layer.value(memory)[:, columns]
            heads.append(torch.softmax(keys @ q / 2.0, dim=0) @ values)
        outputs.append(layer.out(torch.cat(heads)))
    return torch.stack(outputs)


def norm(x, layer):
    return layer_norm(x, (16,), layer.weight, layer.bias)


def feed_forward(x, layers):
    return layers[2](relu(layers[0](x)))


def direct_phi(transformer, x, y):
    e, d = transformer.encoder, transformer.decoder
    y = y + direct_attention(e.attention, norm(y, e.norms[0]), norm(y, e.norms[0]))
    y = norm(y + feed_forward(norm(y, e.norms[1]), e.feed_forward), e.norms[2])
    x = x + direct_attention(d.self_attention, norm(x, d.norms[0]), norm(x, d.norms[0]))
    x = x + direct_attention(d.cross_attention, norm(x, d.norms[1]), y)
    return norm(x + feed_forward(norm(x, d.norms[2]), d.feed_forward), d.norms[3])


def test_value_and_gradient_are_those_of_the_direct_form():
    torch.manual_seed(0)
    transformer = Transformer(CONFIG).double()
    x, y = torch.randn(5, 16, dtype=torch.float64), torch.randn(7, 16, dtype=torch.float64)
    expected = direct_phi(transformer, x, y)
    with torch.no_grad():  # the fused kernel
        fused = transformer(x[None], transformer.encoder(y[None]))[0]
    torch.testing.assert_close(fused, expected)
    gradients = []
    for form in (lambda: transformer(x[None], transformer.encoder(y[None]))[0], lambda: direct_phi(transformer, x, y)):
        transformer.zero_grad()
        form().square().sum().backward()
        gradients.append([parameter.grad.clone() for parameter in transformer.parameters()])
    torch.testing.assert_close(gradients[0], gradients[1])


def test_attention_in_one_memory_is_that_of_all_heads_at_once():
    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(2, 3, n, 8, generator=generator) for n in (ROWS + 5, 70, 70))
    expected = (q @ k.transpose(-1, -2)).softmax(dim=-1) @ v
    torch.testing.assert_close(in_one_memory(q, k, v), expected)
