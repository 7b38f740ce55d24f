"""Stability of gaits: basins, landscapes, robustness, feedback."""
