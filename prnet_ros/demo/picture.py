"""The picture of a demo run: the aligned clouds from above with the trajectory in them, and the errors."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from prnet_core.evaluation.metrics import geodesic_errors_deg
from prnet_core.geometry import se3
from prnet_core.io.bags import Scan
from prnet_core.io.trajectories import Trajectory
from prnet_ros.demo.drive_map import deskewed, pose_index
from prnet_ros.demo.report import GroundTruthComparison

MAX_POINTS = 250_000
SLAB, SLAB_OF_RANGE = 0.9, 0.1
"""Points further above or below the sensor, in metres or as a share of its range, are left out: floor and ceiling would
hide the rest."""
TIME_COLOURS = "viridis"
TRUE_COLOUR, ESTIMATE_COLOUR = "black", "#e4003a"
MAP_COLOUR, FOUND_COLOUR = "#b8bcc4", "#1f5fbf"


@dataclass(frozen=True)
class View:
    """The axes of the drawn frame that point to the right, up and towards the reader."""

    right: int
    up: int
    towards: int

    @classmethod
    def from_above(cls, frame: str) -> View:
        """From above: z is up, or, where the frame is that of a camera's optics, -y is (REP 103)."""
        return cls(0, 2, 1) if frame.endswith("optical_frame") else cls(0, 1, 2)


@dataclass(frozen=True)
class AlignedPoints:
    """Points of many scans in one frame. points: (N, 3). times: (N,) seconds since the first scan."""

    points: np.ndarray
    times: np.ndarray


def align_scans(scans: Iterable[Scan], trajectory: Trajectory, T_base_sensor: np.ndarray, view: View) -> AlignedPoints:
    """Transform each scan that has a pose into the drawn frame, without its distortion; at most about MAX_POINTS.

    trajectory: poses of the base in the drawn frame.
    """
    per_scan = MAX_POINTS // max(len(trajectory), 1)
    points, times = [np.empty((0, 3))], [np.empty(0)]
    for scan in scans:
        index = pose_index(trajectory, scan.stamp)
        if index is None:
            continue
        T_drawn_sensor = trajectory.poses[index] @ T_base_sensor
        placed = se3.apply(T_drawn_sensor, deskewed(scan, trajectory, index, T_base_sensor))
        placed = in_slab(placed, T_drawn_sensor[:3, 3], view)
        placed = placed[:: max(1, len(placed) // per_scan)]
        points.append(placed)
        times.append(np.full(len(placed), scan.stamp - trajectory.stamps[0]))
    return AlignedPoints(np.concatenate(points), np.concatenate(times))


def in_slab(points: np.ndarray, sensor: np.ndarray, view: View) -> np.ndarray:
    """The points (N, 3) at about the height of the sensor (3,)."""
    reach = np.percentile(np.linalg.norm(points - sensor, axis=1), 90)
    height = points[:, view.towards] - sensor[view.towards]
    return points[np.abs(height) < max(SLAB, SLAB_OF_RANGE * reach)]


@dataclass(frozen=True)
class FoundScan:
    """A scan that the node has found in the map of the drive, in the drawn frame.

    points: (N, 3). sensor, expected: (3,), the sensor as found, and in the drive. label: of the panel.
    """

    points: np.ndarray
    sensor: np.ndarray
    expected: np.ndarray
    label: str


def draw(
    path: Path, title: str, aligned: AlignedPoints, trajectory: Trajectory,
    comparison: GroundTruthComparison | None, view: View, found: FoundScan | None = None,
) -> None:  # fmt: skip
    """Write the PNG: trajectory, ground truth and points in one frame."""
    has_errors, is_found = comparison is not None, found is not None
    figure = plt.figure(figsize=(15.0 if has_errors else 10.0, 10.5 if is_found else 8.0), layout="constrained")
    columns = figure.add_gridspec(1, 1 + has_errors, width_ratios=[2.4, 1.0][: 1 + has_errors])
    left = columns[0].subgridspec(1 + is_found, 1, height_ratios=[2.0, 1.0][: 1 + is_found])
    _draw_map(figure, figure.add_subplot(left[0]), aligned, trajectory, comparison, view)
    if found is not None:
        _draw_found(figure.add_subplot(left[1]), aligned, found, view)
    if comparison is not None:
        right = columns[1].subgridspec(2, 1)
        _draw_paths(figure.add_subplot(right[0]), comparison, view)
        _draw_errors(figure.add_subplot(right[1]), comparison)
    figure.suptitle(title, fontsize=14)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _draw_map(
    figure: Figure, axes: Axes, aligned: AlignedPoints, trajectory: Trajectory,
    comparison: GroundTruthComparison | None, view: View,
) -> None:  # fmt: skip
    right, up = view.right, view.up
    order = np.random.default_rng(0).permutation(len(aligned.points))
    dots = axes.scatter(
        aligned.points[order, right], aligned.points[order, up], c=aligned.times[order],
        s=1.2, linewidths=0, alpha=0.6, cmap=TIME_COLOURS, rasterized=True,
    )  # fmt: skip
    if comparison is not None:
        ground_truth = comparison.ground_truth[:, :3, 3]
        axes.plot(ground_truth[:, right], ground_truth[:, up], color=TRUE_COLOUR, lw=3.5, label="ground truth")
    path = trajectory.poses[:, :3, 3]
    axes.plot(path[:, right], path[:, up], color=ESTIMATE_COLOUR, lw=1.5, label="from /tf")
    axes.plot(*path[0, [right, up]], "o", color=ESTIMATE_COLOUR, ms=8, mec="white", label="start")
    _show_all(axes, aligned.points, path, view)
    axes.set_title("Aligned scans, from above")
    axes.legend(loc="upper right")
    bar = figure.colorbar(dots, ax=axes, shrink=0.6, pad=0.01, label="time of the scan (s)")
    bar.solids.set_alpha(1.0)


def _show_all(axes: Axes, points: np.ndarray, path: np.ndarray, view: View) -> None:
    """Limits that hold the path and nearly all points; names of the axes."""
    right, up = view.right, view.up
    seen = np.concatenate([points, path])[:, [right, up]]
    (left, bottom), (far, top) = np.percentile(seen, [0.5, 99.5], axis=0) + np.array([[-0.5], [0.5]])
    axes.set_xlim(min(left, path[:, right].min() - 0.5), max(far, path[:, right].max() + 0.5))
    axes.set_ylim(min(bottom, path[:, up].min() - 0.5), max(top, path[:, up].max() + 0.5))
    axes.set_aspect("equal")
    axes.set_xlabel(f"{'xyz'[right]} (m)")
    axes.set_ylabel(f"{'xyz'[up]} (m)")


def _draw_found(axes: Axes, aligned: AlignedPoints, found: FoundScan, view: View) -> None:
    right, up = view.right, view.up
    places = np.array([found.expected, found.sensor])
    for points, colour, size, name in (
        (aligned.points, MAP_COLOUR, 0.5, "map of the drive"),
        (in_slab(found.points, found.sensor, view), FOUND_COLOUR, 2.0, "the scan, where it was found"),
    ):
        axes.scatter(points[:, right], points[:, up], s=size, color=colour, linewidths=0, rasterized=True)
        axes.plot([], [], "s", color=colour, label=name)
    axes.plot(*places[0, [right, up]], "o", color="none", mec=TRUE_COLOUR, ms=11, mew=2, label="sensor in the drive")
    axes.plot(*places[1, [right, up]], "o", color=ESTIMATE_COLOUR, ms=6, label="sensor as found")
    _show_all(axes, aligned.points, places, view)
    axes.set_title(found.label)
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _draw_paths(axes: Axes, comparison: GroundTruthComparison, view: View) -> None:
    for poses, colour, width, name in (
        (comparison.ground_truth, TRUE_COLOUR, 3.0, "ground truth"),
        (comparison.estimate, ESTIMATE_COLOUR, 1.5, "from /tf"),
    ):
        positions = poses[:, :3, 3][:, [view.right, view.up]]
        axes.plot(positions[:, 0], positions[:, 1], ".-", color=colour, lw=width, ms=3, label=name)
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_title(f"Trajectory: ATE {100 * comparison.ate:.1f} cm over {comparison.path_length:.1f} m")
    axes.set_xlabel(f"{'xyz'[view.right]} (m)")
    axes.set_ylabel(f"{'xyz'[view.up]} (m)")
    axes.grid(alpha=0.3)
    axes.legend()


def _draw_errors(axes: Axes, comparison: GroundTruthComparison) -> None:
    axes.plot(100.0 * comparison.position_errors, color=ESTIMATE_COLOUR, label="position (cm)")
    axes.set_ylabel("position (cm)", color=ESTIMATE_COLOUR)
    axes.set_xlabel("scan")
    axes.set_title("Error since the start")
    axes.grid(alpha=0.3)
    axes.set_ylim(bottom=0.0)
    other = axes.twinx()
    other.plot(geodesic_errors_deg(comparison.estimate, comparison.ground_truth), color="#1f5fbf")
    other.set_ylabel("rotation (deg)", color="#1f5fbf")
    other.set_ylim(bottom=0.0)
