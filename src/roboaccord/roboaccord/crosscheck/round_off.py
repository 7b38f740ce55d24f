"""Bounds on what round-off explains, in the arithmetic of an engine.

Each is a number of roundings times `rounding`, the distance from 1 to the next number in that
arithmetic (`EngineSpec.rounding`). In double precision they are wide, since no error of a model is
so small; in single precision errors would hide in as much, so the numbers are as small as sound
engines allow. They decide what is outside: larger ones hide errors, with smaller ones sound engines
fail (test_scheme, test_single_precision, and the conformance suites of engines).
"""

from __future__ import annotations

import numpy as np

from roboaccord.contract import Acceleration, Array, RobotState
from roboaccord.engines.base import EngineSimulator
from roboaccord.engines.differences import relative_at
from roboaccord.engines.twin_rounding import ROUNDING, Roundings

# Of a coordinate, relative to its largest value or 1: a sum of n terms errs by n u, with the unit
# round-off u = 1.1e-16 [Higham 2002, chapter 3], so of n = 9000, or of some hundred terms that
# cancel to a hundredth; and the same in single precision, by numbers of roundings.
ROUND_OFF, COORDINATE_ROUNDINGS = 1e-12, 256.0
# Of a property that an engine computes from the description, such as an inertia about turned axes.
PROPERTY_ROUNDINGS = 16.0
# Of the energies of a run, relative to the largest, as its states are rounded at each step. In
# double precision it is BOOK_ROUND_OFF (measures/energy_parts.py).
STATE_ROUNDINGS = 16.0
# Factors on the effect of one rounding of every number on a control period: it has many roundings,
# and 50^2 of them add up to 50 if they are independent. In single precision MuJoCo Warp, Newton and
# PhysX had 1.5 at most, on six robots.
ROUNDING_FACTOR, SINGLE_ROUNDING_FACTOR = 50.0, 8.0
# Largest relative loss of a state that is set and read back: twice what DART cuts off, or some
# roundings. A larger one is an error.
MAX_LOSS, LOST_ROUNDINGS = 4e-10, 4.0
# Roundings of each number in one evaluation of the equations of motion. Of three small robots
# MuJoCo Warp has 7.5 at most; PhysX 78, as accelerations of its free base are differences of rates.
EVALUATION_ROUNDINGS = 96.0
ROUNDING_SEEDS = (1, 2)  # seeds of the twins whose numbers are changed by one rounding each


def is_single(rounding: float) -> bool:
    """Return whether an arithmetic is coarser than double precision."""
    return rounding > ROUNDING


def of_coordinates(rounding: float) -> float:
    """Return the round-off of a coordinate, relative to its largest value or 1."""
    return max(ROUND_OFF, COORDINATE_ROUNDINGS * rounding)


def of_properties(rounding: float) -> float:
    """Return the relative round-off of a property of links and joints."""
    return max(ROUND_OFF, PROPERTY_ROUNDINGS * rounding)


def of_lost_states(rounding: float) -> float:
    """Return the largest relative loss of a state that is set and read back."""
    return max(MAX_LOSS, LOST_ROUNDINGS * rounding)


def factor(rounding: float) -> float:
    """Return the factor on the effect of one rounding of every number on a control period."""
    return SINGLE_ROUNDING_FACTOR if is_single(rounding) else ROUNDING_FACTOR


def of_accelerations(
    engine: EngineSimulator, state: RobotState, effort: Array, expected: Acceleration
) -> float:
    """Return the relative error of accelerations that round-off explains in one state.

    Every entry of the mass matrix and every force is rounded at random, so that the error grows
    with the condition of the mass matrix. 0 in double precision, whose bound is a tolerance.

    Args:
        engine: simulator, in whose arithmetic numbers are rounded.
        state, effort: for which accelerations are expected.
        expected: the accelerations.
    """
    if not is_single(engine.rounding):
        return 0.0
    if len(engine.joints) != len(expected.joints):  # a part of a robot
        return EVALUATION_ROUNDINGS * engine.rounding
    mass, gravity = engine.mass_matrix(state), engine.gravity_forces(state)
    axes = engine.base.axes
    forces = np.concatenate([np.zeros(len(axes)), np.abs(effort)]) + np.abs(gravity)
    errors = list[float]()
    for seed in ROUNDING_SEEDS:
        rounded = Roundings(seed, engine.rounding).perturbed(expected, mass, axes, forces)
        pairs = (rounded.joints, expected.joints), (rounded.base, expected.base)
        errors += [relative_at(*pair)[0] for pair in pairs]
    return EVALUATION_ROUNDINGS * max(errors)
