"""Rigid transforms (numpy: `se3`; torch: `transforms`), Procrustes, robust estimation from matches, voxels."""
