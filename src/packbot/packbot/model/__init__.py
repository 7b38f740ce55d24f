"""Parameters, kinematics and dynamics of the arm.

parameters       JOINTS and the physical parameters, with named poses
arm, chain       dynamics and forward kinematics by pinocchio; compiled kinematics of a chain
tables, merged   DH tables, also with a frozen joint; inertia of the two links at a frozen joint
compiled         (here) message that says what to install if pinocchio, coal or MuJoCo is missing

Modules that import these libraries are imported in a `with compiled("what")`. This file and
`parameters` must stay free of them, because robot.py and the commands import them where they are
missing. Tests: test_packbot_dynamics, _kinematics, _faults.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from roboaccord.contract import AccordError


@contextmanager
def compiled(what: str) -> Iterator[None]:
    """Report in one line which library is missing, if one is, and how to install it."""
    try:
        yield
    except ImportError as error:
        missing = "mujoco" if error.name == "mujoco" else "pin coal"
        raise AccordError(f"{what} needs {error.name}; run: pip install {missing}") from None
