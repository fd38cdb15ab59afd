"""Undo the sensor's motion within one scan."""

import numpy as np


def deskew(points: np.ndarray, times: np.ndarray, twist: np.ndarray) -> np.ndarray:
    """Points (N, 3) as seen from the sensor's place at time 0, for times (N,) in seconds and a constant twist.

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
    axis = omega / rate
    angle = rate * times
    sine, versine = np.sin(angle)[:, None], (1.0 - np.cos(angle))[:, None]
    cross = np.cross(axis, points)
    rotated = points + sine * cross + versine * np.cross(axis, cross)
    axis_cross_v = np.cross(axis, velocity)
    moved = (
        angle[:, None] * velocity
        + versine * axis_cross_v
        + (angle[:, None] - sine) * np.cross(axis, axis_cross_v)
    ) / rate
    return rotated + moved
