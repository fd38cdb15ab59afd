"""Coefficients of the confidences: written by `benchmarks/registration_verification.py --fit`."""

# 4362 candidates: KITTI, Kinect, corridors, crowd, depth camera, different places, garage, handheld LiDAR, libpointmatcher, offices, park, rooms, sample LiDAR, sample camera, stairs, street, table top, twins
FREE_SPACE_CONFIDENCE = (-5.65, -1.59, 0.35, 1.91)
# 517 candidates: bunny, different objects, fragments
OBJECT_CONFIDENCE = (4.76, 5.50)
