"""Coefficients of the confidences: written by `benchmarks/registration_verification.py --fit`."""

# 4974 candidates of 50 groups
FREE_SPACE_CONFIDENCE = (-4.76, -1.76, 1.74, 1.50)
# 516 candidates of 3 groups
OBJECT_CONFIDENCE = (4.23, 5.48)
