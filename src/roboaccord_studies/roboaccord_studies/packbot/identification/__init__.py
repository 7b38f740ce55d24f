"""Identification of the arm: base parameters, friction and payload from a recorded motion."""
