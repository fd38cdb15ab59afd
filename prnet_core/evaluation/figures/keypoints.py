"""Keypoints: of a pair before and after registration, and their repeatability under rotation."""

from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from prnet_core.evaluation.figures.canvas import (
    KEYPOINT,
    LOST,
    SOURCE,
    TARGET,
    draw_cloud,
    draw_marks,
    new_figure,
    save,
    view_matrix,
)  # fmt: skip
from prnet_core.evaluation.figures.network_view import run_network
from prnet_core.evaluation.metrics import geodesic_errors_deg
from prnet_core.geometry import se3
from prnet_core.model import PRNet
from prnet_core.pairs.protocol import protocol_pair

VIEW = view_matrix(-60, 25)
NUM_SHOWN = 48


def draw_keypoints(network: PRNet, shape: np.ndarray, index: int, path: str | Path) -> dict[str, float]:
    """Partial and full clouds of a shape (P, 3) by the protocol, input and aligned, with the strongest keypoints.

    Writes `path`. Returns the rotation errors in degrees, `partial_error_deg` and `full_error_deg`.
    """
    figure, axes = new_figure(2, 2)
    errors = {}
    for row, (name, protocol) in zip(axes, {"partial": "objects", "full": "full"}.items(), strict=True):
        source, target, true = protocol_pair(shape, index, protocol)
        seen = run_network(network, source, target, NUM_SHOWN)
        error = float(geodesic_errors_deg(seen.T_target_source[None], true[None])[0])
        errors[f"{name}_error_deg"] = error
        moved = se3.apply(seen.T_target_source, source.astype(np.float64))
        for one, cloud, title in ((row[0], source, f"{name}: input"), (row[1], moved, f"aligned, {error:.3f}° off")):
            draw_cloud(one, target, VIEW, TARGET, size=11.0)
            draw_cloud(one, cloud, VIEW, SOURCE, size=3.0)
            draw_marks(one, target[seen.target_keypoints], VIEW, TARGET, size=44)
            draw_marks(one, cloud[seen.source_keypoints], VIEW, SOURCE, size=14)
            one.set_title(title, fontsize=10)
    save(figure, path, {"source": (SOURCE, 4.0), "target": (TARGET, 5.5), "large: keypoints": ("#777777", 8.0)})
    return errors


def draw_consistency(
    network: PRNet, shape: np.ndarray, index: int, path: str | Path, num_views: int = 4
) -> dict[str, float]:
    """Repeatability of the keypoints of a pair's source under rotation of the pair.

    Each view rotates both clouds by the same random rotation and keeps the order of the points. A keypoint is repeated
    if its index is. Black: the keypoints of the view; red: those of the first view that are not repeated.
    Writes `path`. Returns `repeated` (mean fraction over the other views) and `repeated_by_chance`.
    """
    source, target, _ = protocol_pair(shape, index, "objects")
    rng = np.random.default_rng(index)
    rotations = [np.eye(3), *Rotation.random(num_views - 1, random_state=rng).as_matrix()]
    views = [run_network(network, source @ rotation.T, target @ rotation.T, NUM_SHOWN) for rotation in rotations]
    seen = [view.source_keypoints for view in views]
    first = set(seen[0].tolist())
    shares = [len(first & set(keypoints.tolist())) / len(first) for keypoints in seen]
    figure, axes = new_figure(1, num_views, 2.8)
    for view, (one, rotation, keypoints) in enumerate(zip(axes[0], rotations, seen, strict=True)):
        rotated = source @ rotation.T
        lost = np.array(sorted(first - set(keypoints.tolist())), dtype=int)
        draw_cloud(one, rotated, VIEW, SOURCE, faint=True)
        draw_marks(one, rotated[lost], VIEW, LOST)
        draw_marks(one, rotated[keypoints], VIEW, KEYPOINT)
        title = f"{len(first)} keypoints" if view == 0 else f"rotated: {shares[view]:.0%} repeated"
        one.set_title(title, fontsize=9)
    save(figure, path, {"keypoints of the view": (KEYPOINT, 6.0), "of the first view only": (LOST, 6.0)})
    return {"repeated": float(np.mean(shares[1:])), "repeated_by_chance": len(first) / len(source)}
