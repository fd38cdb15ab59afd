"""PRNet, partial-to-partial point cloud registration (Wang and Solomon, NeurIPS 2019), with odometry and maps."""

__version__ = "0.1.0"
