"""Chooses the simulator of a launch; plan.py calls `choose` with the arguments of the launch.

With `sim:=auto` it is the first that can run the scenario: Gazebo, then the engines, then the
reference. docs/ros.md documents this order; change both. SLOW may be tuned.
"""

from __future__ import annotations

from dataclasses import dataclass

from roboaccord.contract import AccordError, count_steps
from roboaccord.engines import REFERENCE, default_names
from roboaccord.run import make_simulator
from roboaccord.scenario import is_file

from roboaccord_ros.gazebo.prepare import check_gazebo
from roboaccord_ros.gazebo.world import World
from roboaccord_ros.plan.request import Request
from roboaccord_ros.speed import last_factor

GAZEBO = "gz"  # name of Gazebo as a simulator
# Smallest real-time factor at which a person can drive a robot [simulated s per s of wall time]: at
# 0.4 each answer comes 2.5 times as late.
SLOW = 0.4


@dataclass(frozen=True)
class Choice:
    """The simulator of a launch, and the reason: why those before it cannot run the scenario."""

    sim: str
    reason: str


def choose(request: Request) -> Choice:
    """Return the named simulator, or for `auto` the first that can run the scenario.

    Raises:
        AccordError: why the scenario cannot be run.
    """
    name = request["sim"]
    if name != "auto":
        _check(request, name)
        return Choice(name, "as asked")
    reasons: list[str] = []
    for sim in (GAZEBO, *default_names()):
        try:
            _check(request, sim)
            if sim == GAZEBO:
                _refuse_slow(request)
            return Choice(sim, "; ".join(reasons))
        except AccordError as error:
            reasons.append(f"not {sim}: {error}".removesuffix("; try sim:=dart"))
    _check(request, REFERENCE)
    return Choice(REFERENCE, "; ".join(reasons))


def _check(request: Request, sim: str) -> None:
    """Check that a simulator can run the request.

    Raises:
        AccordError: why it cannot.
    """
    setup = request.setup
    if sim == GAZEBO and is_file(setup.scenario.robot):
        raise AccordError("Gazebo takes robots with a package, not a file: use sim:=dart")
    if sim == GAZEBO:
        check_gazebo(setup)
        return
    if request["world"]:
        World.read(request["world"])
    simulator = make_simulator(setup, sim)
    quotient = "control_period over physics_step"
    count_steps(setup.scenario.control_period, simulator.physics_step, quotient)


def speed(request: Request) -> float | None:
    """Return the real-time factor of the last such run in Gazebo here, None if unknown."""
    lockstep = request.is_on("lockstep")
    return last_factor(request.setup, contacts=request["contacts"], lockstep=lockstep)


def _refuse_slow(request: Request) -> None:
    """Check that the last run was fast enough for a person to drive.

    Raises:
        AccordError: if it was not.
    """
    factor = speed(request)
    if request.driven and factor is not None and factor < SLOW:
        reached = f"its last run here reached {factor:.2g} of real time"
        raise AccordError(f"{reached}; sim:=gz uses it anyway")
