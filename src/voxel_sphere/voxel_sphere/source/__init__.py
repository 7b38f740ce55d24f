"""The source (the description of a MATLAB program, docs/voxel_sphere.md): its method and its pages.

described.py has the method as described and must keep its errors, to show what they cost; a better
scheme goes into rolling/. pages.py and relief.py draw runs, and their looks may be changed. Tests:
test_voxel_as_described and test_voxel_pages.
"""
