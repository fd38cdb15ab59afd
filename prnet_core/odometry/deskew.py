"""Undo the sensor's motion within one scan."""

import numpy as np

from prnet_core.geometry import se3


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
    cross = se3.skew(omega)
    angle = rate * times
    sine, cosine = np.sin(angle), np.cos(angle)
    first, second, third = sine / rate, (1.0 - cosine) / rate**2, (angle - sine) / rate**3
    moved = points + first[:, None] * (points @ cross.T)
    moved += second[:, None] * (points @ (cross @ cross).T + cross @ velocity)
    moved += np.outer(times, velocity) + np.outer(third, cross @ cross @ velocity)
    return moved
