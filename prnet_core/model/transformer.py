"""The transformer that conditions the features of each cloud on the other cloud (paper, section 4.1)."""

from torch import Tensor, nn

from .attention import attention
from .config import PRNetConfig


class Attention(nn.Module):
    """Multi-head attention; queries from one set, keys and values from another."""

    def __init__(self, embedding: int, num_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.query = nn.Linear(embedding, embedding)
        self.key = nn.Linear(embedding, embedding)
        self.value = nn.Linear(embedding, embedding)
        self.out = nn.Linear(embedding, embedding)

    def forward(self, queries: Tensor, memory: Tensor) -> Tensor:
        """queries (B, N, C), memory (B, M, C) -> (B, N, C)."""
        return self.read(self.queries(queries), self.keys_and_values(memory))

    def queries(self, x: Tensor) -> Tensor:
        """(B, N, C) -> Q (B, H, N, C / H)."""
        return self._heads(self.query(x))

    def keys_and_values(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """(B, M, C) -> K and V (B, H, M, C / H)."""
        return self._heads(self.key(memory)), self._heads(self.value(memory))

    def read(self, q: Tensor, keys_and_values: tuple[Tensor, Tensor]) -> Tensor:
        """The rest of `forward`."""
        return self.out(attention(q, *keys_and_values).transpose(1, 2).flatten(-2))

    def _heads(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)


def _feed_forward(config: PRNetConfig) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(config.embedding, config.feed_forward),
        nn.ReLU(inplace=True),
        nn.Linear(config.feed_forward, config.embedding),
    )


class Encoder(nn.Module):
    """Self-attention and feed-forward, each a residual on its layer-normalised input."""

    def __init__(self, config: PRNetConfig) -> None:
        super().__init__()
        self.attention = Attention(config.embedding, config.num_heads)
        self.feed_forward = _feed_forward(config)
        self.norms = nn.ModuleList(nn.LayerNorm(config.embedding) for _ in range(3))

    def forward(self, features: Tensor) -> Tensor:
        """(B, M, C) -> the memory (B, M, C) that the decoder of the other cloud reads."""
        normed = self.norms[0](features)
        x = features + self.attention(normed, normed)
        x = x + self.feed_forward(self.norms[1](x))
        return self.norms[2](x)


class Decoder(nn.Module):
    """Self-attention, attention to the other cloud's memory, feed-forward."""

    def __init__(self, config: PRNetConfig) -> None:
        super().__init__()
        self.self_attention = Attention(config.embedding, config.num_heads)
        self.cross_attention = Attention(config.embedding, config.num_heads)
        self.feed_forward = _feed_forward(config)
        self.norms = nn.ModuleList(nn.LayerNorm(config.embedding) for _ in range(4))

    def forward(self, features: Tensor, memory: Tensor) -> Tensor:
        """features (B, N, C) of this cloud, memory (B, M, C) of the other -> (B, N, C)."""
        return self.read(self.attend(features), self.cross_attention.keys_and_values(memory))

    def attend(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """The part that does not depend on the other cloud, (B, N, C), and its queries to that cloud's memory: the same
        in all passes for the target."""
        normed = self.norms[0](features)
        attended = features + self.self_attention(normed, normed)
        return attended, self.cross_attention.queries(self.norms[1](attended))

    def read(self, attended: tuple[Tensor, Tensor], keys_and_values: tuple[Tensor, Tensor]) -> Tensor:
        """The rest of `forward`, from the result of `attend` and the memory's keys and values."""
        x, queries = attended
        x = x + self.cross_attention.read(queries, keys_and_values)
        x = x + self.feed_forward(self.norms[2](x))
        return self.norms[3](x)


class Transformer(nn.Module):
    """phi of Phi_X = F_X + phi(F_X, F_Y): the encoder reads F_Y, the decoder F_X; asymmetric."""

    def __init__(self, config: PRNetConfig) -> None:
        super().__init__()
        self.encoder = Encoder(config)
        self.decoder = Decoder(config)

    def forward(self, features: Tensor, other_memory: Tensor) -> Tensor:
        """features F_X (B, N, C); other_memory = encoder(F_Y) (B, M, C). Returns the residual (B, N, C)."""
        return self.decoder(features, other_memory)

    def memory(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """F (B, M, C) -> keys and values that the decoder of the other cloud reads."""
        return self.decoder.cross_attention.keys_and_values(self.encoder(features))
