"""Scalar products and lengths of the rows of arrays, which numpy's sum and norm over a short last axis make slow."""

import numpy as np


def row_dots(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Scalar products (N,) of the rows of two arrays (N, D)."""
    return np.einsum("ij,ij->i", first, second)


def row_norms(vectors: np.ndarray) -> np.ndarray:
    """Lengths (N,) of the rows of an array (N, D)."""
    return np.sqrt(row_dots(vectors, vectors))
