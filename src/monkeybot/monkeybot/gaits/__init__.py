"""Gaits: periodic motions, their search, continuation and return maps.

Kinds of gaits may be added in kinds.py; names of kinds and fields of results, keys of `--json` and
of config/gaits.yaml, stay.
"""
