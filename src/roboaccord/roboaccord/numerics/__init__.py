"""Numerical methods: compiled kernels, rotations, integrators, statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roboaccord.numerics.lazy import lazy_names

if TYPE_CHECKING:
    from roboaccord.numerics import cholesky as cholesky
    from roboaccord.numerics.cholesky import factor as factor
    from roboaccord.numerics.cholesky import solve as solve
    from roboaccord.numerics.complementarity import SOLVED as SOLVED
    from roboaccord.numerics.complementarity import solve_by_lemke as solve_by_lemke
    from roboaccord.numerics.complementarity import solve_by_pivoting as solve_by_pivoting
    from roboaccord.numerics.complementarity import solve_in_box as solve_in_box
    from roboaccord.numerics.jit import COMPILES as COMPILES
    from roboaccord.numerics.jit import HAS_NUMBA as HAS_NUMBA
    from roboaccord.numerics.jit import kernel as kernel
    from roboaccord.numerics.machine import private_folder as private_folder
    from roboaccord.numerics.machine import python as python
    from roboaccord.numerics.newton import central_slope as central_slope
    from roboaccord.numerics.newton import newton_steps as newton_steps
    from roboaccord.numerics.rotations import axis_angle_matrix as axis_angle_matrix
    from roboaccord.numerics.rotations import cross as cross
    from roboaccord.numerics.rotations import matrix_quaternion as matrix_quaternion
    from roboaccord.numerics.rotations import quaternion_matrix as quaternion_matrix
    from roboaccord.numerics.rotations import quaternion_product as quaternion_product
    from roboaccord.numerics.rotations import quaternion_rpy as quaternion_rpy
    from roboaccord.numerics.rotations import quaternion_yaw as quaternion_yaw
    from roboaccord.numerics.rotations import rotation_vector as rotation_vector
    from roboaccord.numerics.rotations import rpy_matrix as rpy_matrix
    from roboaccord.numerics.rotations import turn_quaternion as turn_quaternion
    from roboaccord.numerics.rotations import turn_twist as turn_twist
    from roboaccord.numerics.rotations import yaw_matrix as yaw_matrix
    from roboaccord.numerics.rotations import yaw_quaternion as yaw_quaternion
    from roboaccord.numerics.runge_kutta import GROW as GROW
    from roboaccord.numerics.runge_kutta import SAFETY as SAFETY
    from roboaccord.numerics.runge_kutta import SHRINK as SHRINK
    from roboaccord.numerics.runge_kutta import Slope as Slope
    from roboaccord.numerics.runge_kutta import Step as Step
    from roboaccord.numerics.runge_kutta import dense_rows as dense_rows
    from roboaccord.numerics.runge_kutta import dense_state as dense_state
    from roboaccord.numerics.runge_kutta import fill_stage as fill_stage
    from roboaccord.numerics.runge_kutta import rk4_stage as rk4_stage
    from roboaccord.numerics.runge_kutta import step_error as step_error
    from roboaccord.numerics.runge_kutta import take_step as take_step
    from roboaccord.numerics.simd import WIDTH as WIDTH
    from roboaccord.numerics.simd import fma as fma
    from roboaccord.numerics.simd import larger as larger
    from roboaccord.numerics.simd import load as load
    from roboaccord.numerics.simd import root as root
    from roboaccord.numerics.simd import sine_cosine as sine_cosine
    from roboaccord.numerics.simd import size as size
    from roboaccord.numerics.simd import smaller as smaller
    from roboaccord.numerics.simd import store as store

__getattr__, __dir__, __all__ = lazy_names(__name__)
