"""Terrain: voxel slices, their generation, workspaces and meshes.

Surfaces may be added in surfaces.py, functions of users' expressions in expressions.py; names of
folders and keys of workspace.yaml, in files of users, stay.
"""
