"""Coefficients of the confidences: written by `benchmarks/registration_verification.py --fit`."""

# 560 candidates: Kinect, corridors, handheld LiDAR, offices, rooms
FREE_SPACE_CONFIDENCE = (-9.28, -2.39, 2.13, 1.54)
# not fitted again
OVERLAP_CONFIDENCE = (1.70, 11.20, -34.40)
