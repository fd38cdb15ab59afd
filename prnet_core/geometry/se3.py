"""Rigid transforms as 4x4 float64 arrays (numpy). `T_a_b` maps points of frame b into frame a."""

import numpy as np

SMALL_ANGLE = 1e-3  # radians, below which series take the place of differences that cancel


def make_transform(rotation: np.ndarray, translation: np.ndarray) -> np.ndarray:
    """4x4 matrix from a 3x3 rotation and a translation (3,)."""
    transform = np.eye(4)
    transform[:3, :3] = rotation
    transform[:3, 3] = translation
    return transform


def invert(transform: np.ndarray) -> np.ndarray:
    """Inverse of a rigid 4x4 matrix."""
    rotation_t = transform[:3, :3].T
    return make_transform(rotation_t, -rotation_t @ transform[:3, 3])


def apply(transform: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Points (N, 3) of frame b in frame a: R p + t."""
    return points @ transform[:3, :3].T + transform[:3, 3]


def skew(vector: np.ndarray) -> np.ndarray:
    """3x3 cross product matrix: skew(a) b = a x b."""
    x, y, z = np.asarray(vector).tolist()
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def rotation_angle(rotation: np.ndarray) -> float:
    """Angle of a 3x3 rotation in radians, in [0, pi]."""
    w, *vector = quaternion(rotation)
    return float(2.0 * np.arctan2(_norm(*vector), w))


def difference(first: np.ndarray, second: np.ndarray) -> tuple[float, float]:
    """Length of the translation and angle, in radians, of first^-1 second, for rigid transforms (4, 4)."""
    between = invert(first) @ second
    return float(np.linalg.norm(between[:3, 3])), rotation_angle(between[:3, :3])


def transform_distance(first: np.ndarray, second: np.ndarray, extent: float) -> float:
    """Upper bound of the distance between the images of a point under two transforms (4, 4), for points within `extent`
    of the origin."""
    rotated = np.linalg.norm(second[:3, :3] - first[:3, :3]) / np.sqrt(2.0)  # 2 sin(angle / 2)
    return float(np.linalg.norm(second[:3, 3] - first[:3, 3]) + extent * rotated)


def nearest_rotation(matrix: np.ndarray) -> np.ndarray:
    """Closest rotation to a 3x3 matrix in the Frobenius norm; det = +1."""
    u, _, vt = np.linalg.svd(matrix)
    return u @ np.diag([1.0, 1.0, np.linalg.det(u @ vt)]) @ vt


def orthonormal(transform: np.ndarray) -> np.ndarray:
    """The transform (4, 4) with its rotation replaced by the nearest one: without rounding errors."""
    return make_transform(nearest_rotation(transform[:3, :3]), transform[:3, 3])


def is_rigid(transform: np.ndarray) -> bool:
    """Whether an array is a rigid transform (4, 4): finite, R R^T = I up to rounding, and det R = +1."""
    if transform.shape != (4, 4) or not np.isfinite(transform).all():
        return False
    rotation = transform[:3, :3]
    return np.allclose(rotation @ rotation.T, np.eye(3), atol=1e-3) and float(np.linalg.det(rotation)) > 0.0


def _generator_factors(angle: float) -> tuple[float, float, float]:
    """sin(a) / a, (1 - cos(a)) / a^2 and (a - sin(a)) / a^3, also for small angles."""
    if angle < SMALL_ANGLE:
        squared = angle * angle
        return 1.0 - squared / 6.0, 0.5 - squared / 24.0, (1.0 - squared / 20.0) / 6.0
    half = np.sin(0.5 * angle) / angle
    sine = np.sin(angle)
    return sine / angle, 2.0 * half * half, (angle - sine) / angle**3


def _left_jacobian(omega: np.ndarray) -> np.ndarray:
    """V of the exponential map: translation = V(omega) v."""
    k = skew(omega)
    _, first, second = _generator_factors(_norm(*omega.tolist()))
    return np.eye(3) + first * k + second * (k @ k)


def rotation_exp(omega: np.ndarray) -> np.ndarray:
    """Rotation vector (3,) in radians to a 3x3 rotation."""
    k = skew(omega)
    sine, cosine, _ = _generator_factors(_norm(*omega.tolist()))
    return np.eye(3) + sine * k + cosine * (k @ k)


def rotation_log(rotation: np.ndarray) -> np.ndarray:
    """Rotation vector (3,) in radians of a 3x3 rotation; angle in [0, pi]."""
    w, *vector = quaternion(rotation)
    sine = _norm(*vector)
    factor = 2.0 * np.arctan2(sine, w) / sine if sine > 0.0 else 2.0
    return factor * np.array(vector)


def quaternion(rotation: np.ndarray) -> tuple[float, float, float, float]:
    """Unit quaternion (w, x, y, z), w >= 0, of a 3x3 rotation (Shepperd 1978: by its largest component)."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = rotation.tolist()
    trace = xx + yy + zz
    largest = max(trace, xx, yy, zz)
    if largest == trace:
        found = 1.0 + trace, zy - yz, xz - zx, yx - xy
    elif largest == xx:
        found = zy - yz, 1.0 + xx - yy - zz, xy + yx, xz + zx
    elif largest == yy:
        found = xz - zx, xy + yx, 1.0 + yy - zz - xx, yz + zy
    else:
        found = yx - xy, xz + zx, yz + zy, 1.0 + zz - xx - yy
    w, x, y, z = found
    scale = (-1.0 if w < 0.0 else 1.0) / (w * w + x * x + y * y + z * z) ** 0.5
    return w * scale, x * scale, y * scale, z * scale


def _norm(x: float, y: float, z: float) -> float:
    return (x * x + y * y + z * z) ** 0.5


def exp(twist: np.ndarray) -> np.ndarray:
    """Rigid 4x4 matrix of a twist (6,) = (v, omega): the motion in one unit of time."""
    return make_transform(rotation_exp(twist[3:]), _left_jacobian(twist[3:]) @ twist[:3])


def log(transform: np.ndarray) -> np.ndarray:
    """Twist (6,) = (v, omega) of a rigid 4x4 matrix; inverse of `exp` for angles below pi."""
    omega = rotation_log(transform[:3, :3])
    return np.concatenate([np.linalg.solve(_left_jacobian(omega), transform[:3, 3]), omega])


def adjoint(transform: np.ndarray) -> np.ndarray:
    """6x6 adjoint for twists (v, omega): maps a twist expressed in frame b to frame a, for T_a_b."""
    rotation, translation = transform[:3, :3], transform[:3, 3]
    result = np.zeros((6, 6))
    result[:3, :3] = rotation
    result[3:, 3:] = rotation
    result[:3, 3:] = skew(translation) @ rotation
    return result


def moved_covariance(T_a_b: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Covariance (6, 6) of a small transform, or twist, expressed in frame a, of one expressed in frame b."""
    to_a = adjoint(T_a_b)
    return to_a @ covariance @ to_a.T


def rotated_covariance(rotation: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Covariance (6, 6), translation then rotation, about axes that are rotated by (3, 3)."""
    both = np.kron(np.eye(2), rotation)
    return both @ covariance @ both.T
