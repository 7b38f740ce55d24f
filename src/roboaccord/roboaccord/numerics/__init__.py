"""Numerical methods: compiled kernels, rotations, integrators, statistics."""
