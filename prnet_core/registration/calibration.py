"""Coefficients of the confidences: written by `benchmarks/registration_verification.py --fit`."""

# 4362 candidates of 18 groups
FREE_SPACE_CONFIDENCE = (-5.65, -1.59, 0.35, 1.91)
# 517 candidates of 3 groups
OBJECT_CONFIDENCE = (4.76, 5.50)
