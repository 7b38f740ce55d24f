"""Gaits: periodic motions, their search, continuation and return maps."""
