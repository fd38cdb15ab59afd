"""Training pairs: object pairs, scan pairs, and the normalisation of a pair."""
