"""Contact of convex hulls: distances, gaps, impacts and contact forces.

A contact law may be added in collisions.py; the laws of forces.py are fixed, and engines must get
the same hulls as the reference (the analytical model).
"""
