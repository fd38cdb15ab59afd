"""Coefficients of the confidences: written by `benchmarks/registration_verification.py --fit`."""

# 4341 candidates of 18 groups
FREE_SPACE_CONFIDENCE = (-5.43, -1.59, 0.98, 2.54)
# 516 candidates of 3 groups
OBJECT_CONFIDENCE = (4.23, 5.48)
