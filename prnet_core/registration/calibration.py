"""Coefficients of the confidences: written by `benchmarks/registration_verification.py --fit`."""

# 4101 candidates of 80 groups
FREE_SPACE_CONFIDENCE = (-4.69, -1.85, 1.64, 1.57)
# 496 candidates of 6 groups
OBJECT_CONFIDENCE = (2.80, 2.40, 4.88)
