"""Terrain: voxel slices, their generation, workspaces and meshes."""
