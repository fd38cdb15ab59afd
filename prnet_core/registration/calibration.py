"""Coefficients of the confidences: written by `benchmarks/registration_verification.py --fit`."""

# 560 candidates: Kinect, corridors, handheld LiDAR, offices, rooms
FREE_SPACE_CONFIDENCE = (-9.28, -2.39, 2.13, 1.54)
# 517 candidates: bunny, different objects, fragments
OBJECT_CONFIDENCE = (7.52, 6.86)
