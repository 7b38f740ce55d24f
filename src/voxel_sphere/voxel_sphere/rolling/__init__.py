"""Rolling on voxels: distance to the ground everywhere (fields), contacts, walls, integration.

Schemes and closed forms may be added (motion.py, field.py); laws of rolling and reflection are
fixed by test_voxel_rolling and test_voxel_walls.
"""
