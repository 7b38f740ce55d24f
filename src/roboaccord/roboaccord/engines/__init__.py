"""Physics engines behind the Simulator interface, for any robot with a URDF."""

from __future__ import annotations

from roboaccord.contract.errors import AccordError, did_you_mean

ENGINES = {"dart": ("DartSimulator", "dartpy"), "mujoco": ("MujocoSimulator", "mujoco")}
"""By name: the class in `roboaccord.engines.NAME.simulator`, and the library that it needs."""


def check_engine(name: str) -> None:
    """Refuse what is neither an engine nor the reference.

    Raises:
        AccordError: with a hint.
    """
    known = ("reference", *ENGINES)
    if name not in known:
        raise AccordError(f"unknown engine {name}{did_you_mean(name, known)}")
