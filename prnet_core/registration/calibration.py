"""Coefficients of the confidences: written by `benchmarks/registration_verification.py --fit`."""

# 8434 candidates of 26 groups
FREE_SPACE_CONFIDENCE = (-4.33, -1.28, 0.69, 2.96)
# 516 candidates of 3 groups
OBJECT_CONFIDENCE = (4.23, 5.48)
