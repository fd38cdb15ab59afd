"""Evaluation mode for the length of a block."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn


@contextmanager
def evaluation_mode(network: nn.Module) -> Iterator[None]:
    """The network in evaluation mode, and afterwards in the mode it was in."""
    was_training = network.training
    network.eval()
    try:
        yield
    finally:
        network.train(was_training)
