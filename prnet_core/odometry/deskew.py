"""Undo the sensor's motion within one scan."""

import numpy as np

from prnet_core.geometry import se3

CHUNK = 8192  # points that stay in the processor's cache


def deskew(points: np.ndarray, times: np.ndarray, twist: np.ndarray) -> np.ndarray:
    """Points (N, 3) as seen from the sensor's pose at time 0, for times (N,) in seconds and a constant twist.

    twist: (6,) = (v, omega), m/s and rad/s, in the sensor's frame. A point measured at time t lies in the frame of
    the sensor at time 0 at exp(t * twist) p, with exp of SE(3) in closed form. Raises ValueError when the lengths
    differ.
    """
    if times.shape != (len(points),):
        raise ValueError(f"{len(points)} points need times of that many, not {times.shape}")
    velocity, omega = twist[:3], twist[3:]
    rate = float(np.linalg.norm(omega))
    if rate < 1e-9:
        return points + times[:, None] * velocity
    result = np.empty((len(points), 3))
    for begin in range(0, len(points), CHUNK):
        part = slice(begin, begin + CHUNK)
        result[part] = _moved(points[part].T, times[part], velocity, se3.skew(omega), rate).T
    return result


def _moved(columns: np.ndarray, times: np.ndarray, velocity: np.ndarray, cross: np.ndarray, rate: float) -> np.ndarray:
    """Columns (3, N) moved by exp(t X) = 1 + t X + a X^2 + b X^3, since X^4 = -rate^2 X^2."""
    moved, angle = np.ascontiguousarray(columns), rate * times
    first = cross @ moved + velocity[:, None]
    second = cross @ first
    third = cross @ second
    first *= times
    second *= (1.0 - np.cos(angle)) / rate**2
    third *= (angle - np.sin(angle)) / rate**3
    return moved + first + second + third
