"""Equations and parameters of the snake."""
