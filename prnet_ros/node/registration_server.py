"""What the registration process does for the node: odometry, recent scans, weights. No ROS."""

from __future__ import annotations

from inspect import signature
from pathlib import Path

import numpy as np

from prnet_core.fine_tuning.recent_scans import RecentScans
from prnet_core.odometry import OdometryUpdate, ScanOdometry
from prnet_core.registration import Registration
from prnet_ros.node import network
from prnet_ros.node.registration_process import RegistrationSetup

TUNING_POINTS = 16_384  # of a scan, drawn at random: more are of no use to fine-tuning
_TAKES_PRIOR = "predicted_motion" in signature(ScanOdometry.register_scan).parameters


class RegistrationServer:
    """Every method is called by the node through RegistrationProcess.call; arguments and results are pickled."""

    def __init__(self, setup: RegistrationSetup) -> None:
        self._network, self.loaded = network.load(setup.weights, setup.device, setup.num_threads)
        self._config = setup.registration
        self._odometry = ScanOdometry(Registration(self._network, setup.registration), setup.odometry)
        self._recent_scans = RecentScans(setup.num_recent_scans)
        self._unseen: tuple[np.ndarray, OdometryUpdate] | None = None

    def register(
        self, points: np.ndarray, stamp: float, times: np.ndarray | None, predicted_motion: np.ndarray | None
    ) -> tuple[OdometryUpdate, int]:
        """ScanOdometry.register_scan, and the number of recent scans kept for fine-tuning."""
        prior = {} if predicted_motion is None or not _TAKES_PRIOR else {"predicted_motion": predicted_motion}
        update = self._odometry.register_scan(points, stamp, times, **prior)
        if update.status != "ignored":
            self._unseen = points, update
        return update, len(self._recent_scans)

    def after_answer(self) -> None:
        """What need not be waited for: keep the scan just registered if it differs from the others."""
        if self._unseen is None:
            return
        (points, update), self._unseen = self._unseen, None
        if update.status in ("first", "reset"):
            self._recent_scans.start_trajectory()
        has_pose = update.status in ("first", "reset", "accepted")
        self._recent_scans.add(points, update.T_odom_sensor if has_pose else None, update.stamp)

    def reset(self) -> None:
        """Forget the trajectory."""
        self._odometry.reset()

    def num_recent_scans(self) -> int:
        """Recent scans that differ from one another."""
        return len(self._recent_scans)

    def resize_recent_scans(self, capacity: int) -> None:
        """Keep so many from now on."""
        self._recent_scans.resize(capacity)

    def prepare_fine_tuning(self, folder: str) -> None:
        """Write what FineTuneProcess.run_in needs into a folder."""
        from prnet_core.fine_tuning.inputs import write_inputs
        from prnet_core.fine_tuning.motions import motions_between
        from prnet_core.registration.preprocess import clean_points

        recent = self._recent_scans.snapshot()
        scans = [_sample(clean_points(scan.points, self._config)) for scan in recent]
        write_inputs(Path(folder), self._network, scans, motions_between(recent))

    def use_weights(self, path: str) -> None:
        """Register with the network of this file from the next scan on."""
        from prnet_core.model import load_network

        self._network = load_network(path, self.loaded.device)
        self._odometry.registration.network = self._network

    def save_weights(self, path: str, card: dict) -> None:
        """Write the network in use; folders are made. Raises OSError, ValueError."""
        from prnet_core.model import save_network

        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        save_network(self._network, target, card)


def _sample(points: np.ndarray) -> np.ndarray:
    if len(points) <= TUNING_POINTS:
        return points
    return points[np.random.default_rng(0).choice(len(points), TUNING_POINTS, replace=False)]
