"""The voxel sphere beyond its description: errors of schemes and of meshes, export of terrain."""
