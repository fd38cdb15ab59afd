"""Surface inputs of clouds that come without normals or a denser cloud: their own points serve for both."""

import numpy as np
import small_gicp
import torch
from torch import Tensor

from ..pairs.surface_patches import DenseCloud, SurfaceInputs, SurfacePair, point_spacing, surface_inputs
from .surface_cloud import SurfaceCloud

NORMAL_NEIGHBOURS = 15


def surface_clouds(source: Tensor, target: Tensor) -> tuple[SurfaceCloud, SurfaceCloud]:
    """source (B, N, 3), target (B, M, 3) -> the same points in float32 with normals, patches and spacing.

    Computed on the CPU, one cloud at a time; the result is on the points' device.
    """
    pairs, scales = [], []
    for clouds in zip(source.detach().cpu().numpy(), target.detach().cpu().numpy(), strict=True):
        clouds = [np.ascontiguousarray(cloud, dtype=np.float64) for cloud in clouds]
        spacing = max(point_spacing(cloud) for cloud in clouds)
        pairs.append([surface_inputs(c, DenseCloud(c, estimate_normals(c), spacing), spacing) for c in clouds])
        scales.append(spacing)
    spacing = torch.tensor(scales, dtype=torch.float32, device=source.device)
    result = []
    for points, inputs in zip((source, target), zip(*pairs, strict=True), strict=True):
        cloud = batch_of(inputs).to(source.device)
        result.append(SurfaceCloud(points.float(), cloud.normals, cloud.patches, spacing))
    return tuple(result)


def pair_batch(pairs: list[SurfacePair]) -> tuple[SurfaceCloud, SurfaceCloud]:
    """One batch, on the CPU, of pairs of equal sizes."""
    return batch_of([pair.source for pair in pairs]), batch_of([pair.target for pair in pairs])


def batch_of(inputs: list[SurfaceInputs]) -> SurfaceCloud:
    """One batch, on the CPU, of clouds of equal size; their spacing is one."""
    columns = zip(*((i.points, i.normals, i.patches) for i in inputs), strict=True)
    return SurfaceCloud(*(torch.from_numpy(np.stack(column)) for column in columns), torch.ones(len(inputs)))


def estimate_normals(points: np.ndarray) -> np.ndarray:
    """Unit normals (N, 3) of any sign of points (N, 3), from their 15 nearest neighbours."""
    cloud = small_gicp.PointCloud(points)
    small_gicp.estimate_normals(cloud, num_neighbors=NORMAL_NEIGHBOURS)
    return np.ascontiguousarray(cloud.normals()[:, :3])
