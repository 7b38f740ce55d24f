"""The voxel sphere beyond its description: terrain for other programs, and the error of meshes.

export.py has the commands `mesh` and `world`, mesh_error.py the errors that they print. Studies may
be added, as modules here and commands in setup.cfg; what the description of the source has stays in
`voxel_sphere`. Tests: test_voxel_export, test_voxel_accuracy.
"""
