"""Kinematics, dynamics and parameters of the arm; some of it needs pinocchio, coal or MuJoCo.

Imports of pinocchio, coal or MuJoCo may be added in modules beside, each in a `with
compiled("what")`, so that one line says what to install; the names in that line are of PyPI. This
file must stay free of them, for robot.py and the commands import it where they are missing.
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
