"""Coefficients of the confidences: written by `benchmarks/registration_verification.py --fit`."""

FREE_SPACE_CONFIDENCE = (-5.1, -2.24, 1.29, 2.38)
OVERLAP_CONFIDENCE = (1.7, 11.2, -34.4)
