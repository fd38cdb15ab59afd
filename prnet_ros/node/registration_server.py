"""The server in the registration process: odometry, recent scans, weights. No ROS."""

import ctypes
from dataclasses import replace
from pathlib import Path

import numpy as np
import small_gicp

from prnet_core.fine_tuning.recent_scans import RecentScans
from prnet_core.geometry import se3
from prnet_core.geometry.subsets import at_most
from prnet_core.odometry import OdometryUpdate, ScanOdometry
from prnet_core.registration import Registration
from prnet_core.registration.preprocess import choose_voxel_size
from prnet_ros.node import network
from prnet_ros.node.registration_process import RegisteredScan, RegistrationSetup

MAP_POINTS = 30_000  # approximate number of published points of the local map
TUNING_POINTS = 16_384  # of a scan, drawn at random: fine-tuning uses no more
SCANS_PER_TRIM = 100  # between returns of free memory; the scan after one takes 8 ms longer with 120,000 points


class RegistrationServer:
    """Every method is called by the node through RegistrationProcess.call; arguments and results are pickled."""

    def __init__(self, setup: RegistrationSetup) -> None:
        self._network, self.loaded = network.load(setup.weights, setup.device, setup.num_threads)
        self._config = setup.registration
        self._odometry = ScanOdometry(Registration(self._network, setup.registration), setup.odometry)
        self._recent_scans = RecentScans(setup.num_recent_scans)
        self._unseen: OdometryUpdate | None = None
        self._was_lost, self._scans_since_trim = False, 0
        self._T_map_odom = np.eye(4)

    def register(
        self,
        points: np.ndarray,
        stamp: float,
        times: np.ndarray | None,
        predicted_motion: np.ndarray | None,
        wants_points: bool,
    ) -> RegisteredScan:
        """ScanOdometry.register_scan."""
        update = self._odometry.register_scan(points, stamp, times, predicted_motion)
        self._T_map_odom = update.T_map_odom
        if update.status != "ignored":
            self._unseen = update
        registered = update.points.astype(np.float32) if wants_points else None
        rows = update.rows.astype(np.int32) if wants_points and len(update.rows) < len(points) else None
        return RegisteredScan(replace(update, sweep=None), registered, rows, len(self._recent_scans))

    def after_answer(self) -> None:
        """Prepare the next registration, and keep the last scan for fine-tuning if it differs from the others."""
        self._odometry.prepare_next()
        if self._unseen is None:
            return
        update, self._unseen = self._unseen, None
        if update.status in ("first", "reset"):
            self._recent_scans.start_trajectory()
        has_pose = update.status in ("first", "reset", "accepted")
        self._recent_scans.add(update.points, update.T_odom_sensor if has_pose else None, update.stamp)
        self._return_free_memory(update.status == "rejected")

    def _return_free_memory(self, is_lost: bool) -> None:
        """Return memory to the system after a search and once every SCANS_PER_TRIM scans: glibc keeps freed memory."""
        self._scans_since_trim += 1
        if not is_lost and (self._was_lost or self._scans_since_trim >= SCANS_PER_TRIM):
            self._scans_since_trim = 0
            trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
            if trim is not None:
                trim(0)
        self._was_lost = is_lost

    def local_map(self) -> np.ndarray | None:
        """The keyframes that scans are registered to, joined and voxel filtered: (N, 3) float32 in the frame of the
        odometry; None before the first one."""
        frames = self._odometry.keyframes[-self._odometry.config.map_keyframes :]
        if not frames:
            return None
        joined = np.vstack([se3.apply(frame.T_map_sensor, frame.points) for frame in frames])
        voxel_size = self._config.voxel_size or choose_voxel_size(joined, MAP_POINTS)
        points = small_gicp.voxelgrid_sampling(joined, voxel_size).points()[:, :3]
        return se3.apply(se3.invert(self._T_map_odom), points).astype(np.float32)

    def reset(self) -> None:
        """Start a new trajectory."""
        self._odometry.reset()

    def num_recent_scans(self) -> int:
        """Recent scans that differ from one another."""
        return len(self._recent_scans)

    def resize_recent_scans(self, capacity: int) -> None:
        """Change the number of recent scans that are kept."""
        self._recent_scans.resize(capacity)

    def prepare_fine_tuning(self, folder: str) -> None:
        """Write what FineTuneProcess.run_in needs into a folder."""
        from prnet_core.fine_tuning.inputs import write_inputs
        from prnet_core.fine_tuning.scan_transforms import transforms_between
        from prnet_core.registration.preprocess import clean_points

        recent = self._recent_scans.snapshot()
        scans = [at_most(clean_points(scan.points, self._config), TUNING_POINTS) for scan in recent]
        write_inputs(Path(folder), self._network, scans, transforms_between(recent))

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
