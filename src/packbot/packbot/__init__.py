"""The arm of a Packbot: dynamics, convex hulls, contact."""
