"""Terrain as voxel slices: surfaces, their generation, workspaces on disk, and meshes.

surfaces.py has the closed forms and filling.py turns them into voxels; recipes.py and
expressions.py read what users write; slices.py, settings.py, workspace.py and generate.py are the
folders of slices; mesh.py and sdf_model.py make meshes and worlds. Surfaces and functions of
expressions may be added. Names of folders and keys of workspace.yaml stay, for they are in files of
users. Tests: test_voxel_generate, test_voxel_workspace, test_voxel_mesh.
"""
