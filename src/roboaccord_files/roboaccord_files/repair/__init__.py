"""Traps of a URDF: what readers interpret differently, where it is, and the smallest repair."""
