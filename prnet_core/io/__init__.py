"""Files and messages: cloud files, scan folders, bags, PointCloud2 decoding, point times, trajectories."""
