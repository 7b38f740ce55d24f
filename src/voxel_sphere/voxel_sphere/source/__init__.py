"""The document of the task: its own method with its errors, and the page that shows a run.

described.py has the method as described and must keep its errors; a better scheme goes into
rolling/. pages.py and relief.py draw runs, and their looks may be changed. Tests:
test_voxel_as_described and test_voxel_pages.
"""
