"""The server in the map process: tracks the robot in a saved map, or builds a map. No ROS."""

import os
import time
from dataclasses import replace
from pathlib import Path

from prnet_core.mapping import KeyframeMap, MapError
from prnet_core.mapping.checkpoint import MapCheckpoint
from prnet_core.mapping.storage import load_map, save_map
from prnet_core.mapping.tracker import MapPose, MapTracker, OdometryScan
from prnet_core.registration import Registration
from prnet_ros.node.map_process import LoadedMap, MapAnswer, MapScan, MapSetup

NICENESS = 5  # the odometry has priority
MEGABYTE = 1e6


class LocalizationServer:
    """Tracks the robot in a saved map. Every method is called through RegistrationProcess.call."""

    def __init__(self, setup: MapSetup) -> None:
        os.nice(NICENESS)
        self._tracker: MapTracker | None = None
        try:
            keyframe_map = load_map(setup.folder)
            self._tracker = MapTracker(_localizer(keyframe_map, setup))
            self.loaded = LoadedMap(len(keyframe_map), keyframe_map.num_bytes / MEGABYTE)
        except MapError as error:
            self.loaded = LoadedMap(0, 0.0, f"the map cannot be used: {error}")

    def add_scan(self, scan: MapScan) -> MapAnswer:
        """MapTracker.add_scan."""
        tracker = self._required()
        if scan.T_map_base_guess is not None:
            tracker.set_initial_pose(scan.T_map_base_guess @ scan.T_base_sensor)
        located = OdometryScan(scan.points, scan.stamp, scan.T_odom_sensor, scan.trajectory)
        return self._answer(tracker.add_scan(located))

    def search(self) -> MapAnswer:
        """MapTracker.search."""
        return self._answer(self._required().search())

    def forget(self) -> None:
        """MapTracker.forget."""
        self._required().forget()

    def _required(self) -> MapTracker:
        if self._tracker is None:
            raise MapError(self.loaded.problem)
        return self._tracker

    def _answer(self, pose: MapPose) -> MapAnswer:
        found = None if pose.found is None else replace(pose.found, registration=None)
        return MapAnswer(replace(pose, found=found), self.loaded.num_keyframes, self.loaded.megabytes)


class MappingServer:
    """Builds a map alongside the odometry. Every method is called through RegistrationProcess.call."""

    def __init__(self, setup: MapSetup) -> None:
        os.nice(NICENESS)
        self._setup = setup
        self._trajectory: int | None = None
        self._checkpoint = MapCheckpoint(setup.checkpoint) if setup.checkpoint else None
        try:
            self._start()
            self.loaded = self._read_checkpoint()
        except MapError as error:  # GTSAM is missing
            self.loaded = LoadedMap(0, 0.0, f"no map can be built: {error}")

    def _start(self) -> None:
        from prnet_core.mapping.builder import MapBuilder
        from prnet_core.mapping.from_odometry import OdometryMapper

        self._builder = MapBuilder(Registration(None, self._setup.registration), self._setup.mapping)
        self._mapper = OdometryMapper(self._builder)

    def _read_checkpoint(self) -> LoadedMap:
        """The map that a process before this one has built."""
        if self._checkpoint is None:
            return LoadedMap(0, 0.0)
        try:
            self._trajectory = self._checkpoint.read(self._mapper)
        except ValueError as error:
            self._checkpoint.clear()
            return LoadedMap(0, 0.0, note=f"a new map starts: {error}")
        built = self._builder.map
        note = "" if self._trajectory is None else f"the map continues with the {len(built)} keyframes that were kept"
        return LoadedMap(len(built), built.num_bytes / MEGABYTE, note=note)

    def _write_checkpoint(self) -> str:
        """Write the state of the map. Returns the problem as text; after a problem it is not written any more."""
        if self._checkpoint is None:
            return ""
        try:
            self._checkpoint.write(self._mapper, self._trajectory or 0)
        except OSError as error:
            self._checkpoint = None
            return f"the map is not kept while it is built, and is lost if its process ends: {error}"
        return ""

    def add_scan(self, scan: MapScan) -> MapAnswer:
        """OdometryMapper.add_scan; a trajectory that starts again starts a new map."""
        if self.loaded.problem:
            raise MapError(self.loaded.problem)
        note = ""
        if scan.trajectory != self._trajectory:
            if self._trajectory is not None and len(self._builder.map) > 0:
                note = f"the odometry started again: a new map starts, {len(self._builder.map)} keyframes are dropped"
                self._start()
                if self._checkpoint is not None:
                    self._checkpoint.clear()
            self._trajectory = scan.trajectory
        if self._mapper.add_scan(scan.points, scan.T_odom_sensor, scan.stamp, scan.covariance):
            note = "; ".join(filter(None, (note, self._write_checkpoint())))
        built = self._builder.map
        reason = f"{len(built)} keyframes, {len(built.closures)} loop closures"
        pose = MapPose("localized", reason, scan.stamp, scan.trajectory, self._builder.T_map_odom.copy(), note=note)
        return MapAnswer(pose, len(built), built.num_bytes / MEGABYTE, len(built.closures))

    def save(self, folder: str) -> str:
        """Write the map; returns what was written, as text. Raises MapError."""
        if self.loaded.problem:
            raise MapError(self.loaded.problem)
        began = time.monotonic()
        target = Path(folder)
        try:
            target.absolute().parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise MapError(f"{target} cannot be written: {error.strerror or error}") from error
        built = self._builder.map
        save_map(built, target, self._builder.voxel_size / 2.0)
        seconds = time.monotonic() - began
        return f"{len(built)} keyframes, {len(built.closures)} loop closures saved to {target} in {seconds:.1f} s"


def _localizer(keyframe_map: KeyframeMap, setup: MapSetup):
    from prnet_core.mapping.localize import Localizer
    from prnet_ros.node import network

    loaded, _ = network.load(setup.weights, setup.device, setup.num_threads)
    return Localizer(keyframe_map, Registration(loaded, setup.registration), setup.mapping, Path(setup.folder))
