"""Fine-tuning in a process of its own: the same answer, ended at any moment, nothing left behind."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from prnet_core.fine_tuning import FineTuneCancelled, FineTuneError, FineTuneProcess, fine_tune, process  # noqa: E402
from prnet_core.fine_tuning.inputs import REQUEST, TUNED, write_inputs  # noqa: E402
from prnet_core.model import load_network  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def short(quick_config):
    return replace(quick_config, epochs=1, examples_per_scan=8, held_out_pairs=8)


def run_process(run, network, scans, config, progress=lambda _: None, transforms=()):
    """The report of `run_in` with the network, as `fine_tune` gives it."""
    with tempfile.TemporaryDirectory(prefix="prnet_fine_tune_") as name:
        folder = Path(name)
        write_inputs(folder, network, scans, transforms)
        report = run.run_in(folder, "cpu", config, progress, time.monotonic())
        return replace(report, network=load_network(folder / TUNED, "cpu"))


def test_process_gives_what_the_call_gives(tiny_network, room_scans, short):
    scans, transforms = room_scans
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    here = fine_tune(tiny_network, scans, short, transforms=transforms)
    torch.set_num_threads(threads)
    steps = []
    there = run_process(FineTuneProcess(num_threads=1), tiny_network, scans, short, steps.append, transforms)
    assert [step.step for step in steps] == [1, 2, 3, 4, 5]
    assert there.loss_curve == here.loss_curve and there.validations == here.validations
    assert (there.kept, there.before, there.after, there.config) == (here.kept, here.before, here.after, here.config)
    for name, value in here.network.state_dict().items():
        assert torch.equal(value, there.network.state_dict()[name]), name


def test_what_a_library_prints_is_no_answer(tiny_network, room_scans, short, monkeypatch):
    chatty = """os.write(1, b"a word from C\\n"); print('{"progress": 1}', flush=True); main(answers)"""
    monkeypatch.setattr(process, "PROGRAM", process.PROGRAM.replace("main(answers)", chatty))
    assert run_process(FineTuneProcess(1), tiny_network, room_scans[0], short).loss_curve


def test_errors_come_back_with_their_words(tiny_network, room_scans, short):
    with pytest.raises(FineTuneError, match="1 usable scans of the 4 needed: 3 are missing"):
        run_process(FineTuneProcess(1), tiny_network, room_scans[0][:1], short)


def test_process_that_dies_is_named(tiny_network, room_scans, short):
    run = FineTuneProcess(1)

    def kill(_):
        os.kill(run._process.pid, signal.SIGKILL)

    with pytest.raises(FineTuneError, match="the process ended with -9"):
        run_process(run, tiny_network, room_scans[0], replace(short, epochs=100), kill)


def test_cancel_ends_the_process_and_the_files(tiny_network, room_scans, short, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    run, pids, cancelled_at = FineTuneProcess(1), [], []

    def cancel(_):
        if not pids:
            pids.append(run._process.pid)
            threading.Thread(target=lambda: (cancelled_at.append(time.monotonic()), run.cancel())).start()

    with pytest.raises(FineTuneCancelled):
        run_process(run, tiny_network, room_scans[0], replace(short, epochs=1000), cancel)
    assert cancelled_at and not list(tmp_path.iterdir())
    with pytest.raises(ProcessLookupError):
        os.kill(pids[0], 0)
    with pytest.raises(FineTuneCancelled):  # cancelled before it begins
        run_process(run, tiny_network, room_scans[0], short)


def test_process_ends_when_its_parent_is_gone(tmp_path):
    (tmp_path / REQUEST).write_text("{}")
    process = subprocess.Popen(
        [sys.executable, "-c", "import sys, time, runpy, threading\n"
         "from prnet_core.fine_tuning import process_main\n"
         "threading.Thread(target=process_main._end_with_the_parent, daemon=True).start()\n"
         "print('ready', flush=True)\ntime.sleep(600)"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT,
    )  # fmt: skip
    assert process.stdout.readline() == b"ready\n"
    assert process.poll() is None
    process.stdin.close()
    assert process.wait(60) == 1
    process.stdout.close()


def test_network_on_the_registrations_side_is_not_touched(tiny_network, room_scans, short):
    before = [value.clone() for value in tiny_network.state_dict().values()]
    run_process(
        FineTuneProcess(1), tiny_network, [np.asarray(s, np.float32) for s in room_scans[0]], replace(short, epochs=2)
    )
    assert all(torch.equal(a, b) for a, b in zip(before, tiny_network.state_dict().values()))
