"""Coefficients of the confidences: written by `benchmarks/registration_verification.py --fit`."""

# 5558 candidates of 102 groups
FREE_SPACE_CONFIDENCE = (-4.96, -1.95, 1.46, 1.33)
# 502 candidates of 6 groups
OBJECT_CONFIDENCE = (2.83, 2.37, 4.94)
