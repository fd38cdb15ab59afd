"""Coefficients of the confidences: written by `benchmarks/registration_verification.py --fit`."""

# 4974 candidates of 50 groups
FREE_SPACE_CONFIDENCE = (-4.76, -1.76, 1.74, 1.50)
# 496 candidates of 6 groups
OBJECT_CONFIDENCE = (2.80, 2.40, 4.88)
