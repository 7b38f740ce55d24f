"""Dribbling: a carrier that keeps a ball on the ground by two rollers."""
