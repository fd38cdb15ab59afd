"""Measuring registration methods as the paper does: seeded pairs, metrics, methods, tables."""
