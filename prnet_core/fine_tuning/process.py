"""Fine-tuning in its own process, so that registration continues at its rate.

A thread would share Python's lock with the registration and could not be ended inside a step of PyTorch. The process
has a low priority, its own number of threads, and can be ended at any moment. It runs `process_main`.
"""

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from .config import FineTuneConfig
from .inputs import REQUEST
from .progress import FineTuneCancelled, FineTuneError, FineTuneProgress
from .report import FineTuneReport

KILL_TIMEOUT = 1.0  # s
NICENESS = 10
# Set before the imports, which take seconds. Ctrl-C also reaches the parent, which decides about the run. Output of
# libraries goes to standard error: standard output holds the answers only.
PROGRAM = f"""
import os, signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
os.nice({NICENESS})
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
from prnet_core.fine_tuning.process_main import main
main(answers)
"""


class FineTuneProcess:
    """One run of `fine_tune` in another process. `cancel` may be called from any thread, at any time."""

    def __init__(self, num_threads: int) -> None:
        self._num_threads = num_threads
        self._lock = threading.Lock()
        self._is_cancelled = False
        self._process: subprocess.Popen | None = None

    def cancel(self) -> None:
        """End the run: `run_in` raises FineTuneCancelled within KILL_TIMEOUT seconds."""
        with self._lock:
            self._is_cancelled = True
            if self._process is not None:
                self._process.kill()

    def raise_if_cancelled(self) -> None:
        """Raise FineTuneCancelled after `cancel`."""
        if self._is_cancelled:
            raise FineTuneCancelled

    def run_in(
        self,
        folder: Path,
        device: str,
        config: FineTuneConfig,
        progress: Callable[[FineTuneProgress], None],
        began: float,
    ) -> FineTuneReport:
        """As `fine_tune`, with the inputs of `write_inputs` in a folder; the weights are then in its file TUNED.

        Blocks until the run is over. The report is without the network. device: of the network. began: time.monotonic()
        from which the time counts. Needs no PyTorch. Raises FineTuneError as `fine_tune` does and when the process
        dies, FineTuneCancelled after `cancel`.
        """
        request = {
            "config": asdict(config),
            "device": device,
            "num_threads": self._num_threads,
            "began": began,  # monotonic clock, which the process shares
        }
        (folder / REQUEST).write_text(json.dumps(request))
        outcome = self._follow(folder, progress)
        if "error" in outcome:
            raise FineTuneError(outcome["error"])
        return FineTuneReport.from_dict(outcome["report"])

    def _follow(self, folder: Path, progress: Callable[[FineTuneProgress], None]) -> dict:
        """Start the process, forward its progress, and return its last line."""
        environment = {
            **os.environ,
            "OMP_NUM_THREADS": str(self._num_threads),
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        }
        with open(folder / "errors", "w+b") as errors:
            with self._lock:
                self.raise_if_cancelled()
                # Nothing is written to its standard input, which closes when this process ends. It stays in this
                # session: Linux gives a session of its own as much processor time as this one (autogroup).
                process = self._process = subprocess.Popen(
                    [sys.executable, "-c", PROGRAM, str(folder)],
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, env=environment, text=True,
                )  # fmt: skip
            outcome = {}
            try:
                for line in process.stdout:
                    outcome = json.loads(line)
                    if "progress" in outcome:
                        progress(FineTuneProgress(**outcome["progress"]))
            finally:
                process.kill()
                with contextlib.suppress(subprocess.TimeoutExpired):  # on a busy machine it ends later
                    process.wait(KILL_TIMEOUT)
                process.stdin.close()
                process.stdout.close()
            with self._lock:
                self._process = None
                self.raise_if_cancelled()
            if "report" not in outcome and "error" not in outcome:
                errors.seek(0)
                text = errors.read().decode(errors="replace").strip().splitlines() or ["no reason given"]
                raise FineTuneError(f"the process ended with {process.returncode}: {text[-1]}")
        return outcome
