"""The voxel sphere beyond its description: export of terrain, and errors of meshes.

Studies may be added, as modules here and commands in setup.cfg; what the description of the source
has must stay in `voxel_sphere`.
"""
