"""Physics engines behind the Simulator interface, for any robot with a URDF."""

from __future__ import annotations

from roboaccord.contract.errors import AccordError, did_you_mean

ENGINES = {
    "dart": ("DartSimulator", "dartpy"),
    "mujoco": ("MujocoSimulator", "mujoco"),
    "drake": ("DrakeSimulator", "pydrake"),
}
"""By name: the class in `roboaccord.engines.NAME.simulator`, and the module that it needs."""

DEFAULTS = ("dart", "mujoco")
"""Engines that take part where nobody names any; Drake, a further referee, is to be named."""


def check_engine(name: str) -> None:
    """Refuse what is neither an engine nor the reference.

    Raises:
        AccordError: with a hint.
    """
    known = ("reference", *ENGINES)
    if name not in known:
        raise AccordError(f"unknown engine {name}{did_you_mean(name, known)}")
