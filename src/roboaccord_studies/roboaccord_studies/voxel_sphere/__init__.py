"""The voxel sphere beyond its description: export of terrain, and errors of meshes."""
