"""A sphere that rolls over terrain given as voxel slices."""
