"""Parity: what each engine's own reader makes of a URDF, and which link makes the difference."""
