"""Gaits: periodic motions, their search and return maps.

Gaits may be added, as functions like `horizontal` of gait.py; fields of results, keys of `--json`,
stay.
"""
