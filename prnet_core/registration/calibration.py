"""Coefficients of the confidences: written by `benchmarks/registration_verification.py --fit`."""

# 3353 candidates of 26 groups
FREE_SPACE_CONFIDENCE = (-5.51, -1.87, 1.96, 1.39)
# 516 candidates of 3 groups
OBJECT_CONFIDENCE = (4.23, 5.48)
