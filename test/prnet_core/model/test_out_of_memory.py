"""A device without enough memory: the same answer from the CPU, with a warning."""

import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from tiny_network import make_tiny_network  # noqa: E402


def test_the_network_runs_on_the_cpu_when_the_device_is_out_of_memory(monkeypatch):
    network = make_tiny_network()
    source, target = torch.randn(2, 80, 3), torch.randn(2, 70, 3)
    expected = network.register(source, target)

    def no_memory(*_, **__):
        raise torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")

    monkeypatch.setattr(network, "forward", no_memory)  # the copy on the CPU is made from the class
    with pytest.warns(RuntimeWarning, match="out of memory, the network runs on the CPU: CUDA out of memory"):
        found = network.register(source, target)
    torch.testing.assert_close(found, expected)
    monkeypatch.undo()
    torch.testing.assert_close(network.register(source, target), expected)


def test_another_error_is_not_hidden(monkeypatch):
    network = make_tiny_network()
    monkeypatch.setattr(network, "forward", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        network.register(torch.randn(1, 80, 3), torch.randn(1, 80, 3))
