"""Coefficients of the confidences: written by `benchmarks/registration_verification.py --fit`."""

# 3678 candidates of 35 groups
FREE_SPACE_CONFIDENCE = (-4.64, -1.75, 1.88, 1.92)
# 516 candidates of 3 groups
OBJECT_CONFIDENCE = (4.23, 5.48)
