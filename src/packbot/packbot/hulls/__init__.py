"""Convex hulls: solids of the description, their files, and what stands around."""
