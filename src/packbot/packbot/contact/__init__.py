"""Contact of convex hulls: distances, gaps, impacts and contact forces."""
