"""PRNet, partial-to-partial point cloud registration (Wang and Solomon, NeurIPS 2019), and what drives on it."""

__version__ = "0.1.0"
