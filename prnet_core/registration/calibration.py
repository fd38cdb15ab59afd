"""Coefficients of the confidences: written by `benchmarks/registration_verification.py --fit`."""

# 4341 candidates of 18 groups
FREE_SPACE_CONFIDENCE = (-5.34, -1.62, 0.82, 2.57)
# 516 candidates of 3 groups
OBJECT_CONFIDENCE = (4.23, 5.48)
