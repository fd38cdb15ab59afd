"""Weights cut into pieces and joined are the weights."""

import sys
from pathlib import Path

import pytest
import torch

from prnet_core.model import PRNet, PRNetConfig, load_network, read_card, save_network

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
from weight_pieces import join, split  # noqa: E402

CONFIG = PRNetConfig(edge_conv_channels=(8, 16), embedding=16, feed_forward=32, temperature_channels=(8,))


@pytest.fixture
def weights(tmp_path):
    torch.manual_seed(0)
    path = tmp_path / "net.safetensors"
    save_network(PRNet(CONFIG), path, {"steps": 7})
    return path


def test_pieces_are_small_and_join_to_the_same(weights, tmp_path):
    pieces = split(weights, tmp_path / "pieces", 6_000)
    assert len(pieces) >= 3
    assert [piece.name for piece in pieces][0] == f"net-1-of-{len(pieces)}.safetensors"
    assert all(piece.stat().st_size < 6_000 + 10_000 for piece in pieces)  # with the header
    joined = tmp_path / "joined.safetensors"
    join(pieces[::-1], joined)
    expected = load_network(weights, "cpu").state_dict()
    for name, value in load_network(joined, "cpu").state_dict().items():
        assert torch.equal(value, expected[name])
    assert read_card(joined) == {"steps": 7}


def test_small_weights_are_one_piece(weights, tmp_path):
    (piece,) = split(weights, tmp_path / "pieces")
    assert piece.name == "net-1-of-1.safetensors"


def test_a_missing_piece_is_told(weights, tmp_path):
    pieces = split(weights, tmp_path / "pieces", 6_000)
    with pytest.raises(ValueError, match=rf"{len(pieces) - 1} pieces given, their names say \[{len(pieces)}\]"):
        join(pieces[1:], tmp_path / "joined.safetensors")


def test_pieces_of_other_weights_are_told(weights, tmp_path):
    pieces = split(weights, tmp_path / "pieces", 6_000)
    save_network(PRNet(CONFIG), weights, {"steps": 8})
    other = split(weights, tmp_path / "other", 6_000)
    with pytest.raises(ValueError, match="different weights"):
        join([other[0], *pieces[1:]], tmp_path / "joined.safetensors")


def test_a_tensor_larger_than_a_piece_is_told(weights, tmp_path):
    with pytest.raises(ValueError, match="more than a piece of 100"):
        split(weights, tmp_path / "pieces", 100)
