import pickle

import pytest
import torch
from safetensors.torch import load_file, save_file

from prnet_core.model import (
    PRNet,
    PRNetConfig,
    WeightsError,
    choose_device,
    load_network,
    read_card,
    save_network,
)

TINY = PRNetConfig(edge_conv_channels=(4,), num_neighbours=3, embedding=8, feed_forward=8, temperature_channels=(4,))


@pytest.fixture
def saved(tmp_path):
    network = PRNet(TINY).eval()
    path = tmp_path / "weights.safetensors"
    save_network(network, path, {"steps": 7, "data": "none"})
    return network, path


def test_round_trip(saved):
    network, path = saved
    loaded = load_network(path, "cpu")
    assert loaded.config == TINY and not loaded.training
    source, target = torch.randn(1, 20, 3), torch.randn(1, 20, 3)
    assert torch.equal(loaded.register(source, target), network.register(source, target))
    assert read_card(path) == {"steps": 7, "data": "none"}
    assert list(path.parent.iterdir()) == [path]


def rewrite(path, change):
    from safetensors import safe_open

    tensors = load_file(path)
    with safe_open(path, "pt") as file:
        metadata = file.metadata()
    change(tensors, metadata)
    save_file(tensors, path, metadata)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda tensors, _: tensors.pop("dgcnn.last.weight"), "missing dgcnn.last.weight"),
        (lambda tensors, _: tensors.update(extra=torch.zeros(1)), "unexpected extra"),
        (lambda tensors, _: tensors.update({"dgcnn.last.weight": torch.zeros(2, 2)}), r"\(2, 2\), expected \(8, 4\)"),
        (lambda tensors, _: tensors["dgcnn.last.weight"].fill_(float("nan")), "dgcnn.last.weight is not finite"),
        (lambda _, metadata: metadata.update(format="other"), "holds other weights"),
        (lambda _, metadata: metadata.update(config='{"colour": 1}'), "unknown settings of PRNetConfig: colour"),
    ],
)
def test_a_mismatch_is_explained(saved, change, says):
    _, path = saved
    rewrite(path, change)
    with pytest.raises(WeightsError, match=says):
        load_network(path, "cpu")


def test_other_files_are_refused(tmp_path, saved):
    with pytest.raises(FileNotFoundError, match="no weights file"):
        load_network(tmp_path / "absent.safetensors")
    pickled = tmp_path / "weights.pt"
    pickled.write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(WeightsError, match="not a safetensors file"):
        load_network(pickled)
    _, path = saved
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(WeightsError, match="cut short"):
        load_network(path)


def test_device():
    assert choose_device("cpu").type == "cpu"
    assert choose_device("auto").type == ("cuda" if torch.cuda.is_available() else "cpu")
    if not torch.cuda.is_available():
        with pytest.raises(ValueError, match="finds no CUDA device"):
            choose_device("cuda:0")
