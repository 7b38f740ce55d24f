"""Choice of the simulator of a launch, and of what a person sees of it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Literal

from roboaccord.contract import AccordError, count_steps
from roboaccord.engines import REFERENCE, default_names
from roboaccord.run import make_simulator
from roboaccord.scenario import is_file

from roboaccord_ros.gazebo.bridge import World
from roboaccord_ros.gazebo.prepare import check_gazebo, is_installed
from roboaccord_ros.plan.request import Request
from roboaccord_ros.speed import last_factor

GAZEBO = "gz"
SLOW = 0.4  # of real time, below which nobody drives


@dataclass(frozen=True)
class Choice:
    """Hold what runs a scenario, why not what comes before it, and Gazebo's world."""

    sim: str
    reason: str
    world: World | None = None


def choose(request: Request) -> Choice:
    """Return the simulator that is asked for; for `auto` the first that can run the scenario.

    Raises:
        AccordError: why it cannot be run.
    """
    asked = request["sim"]
    if asked != "auto":
        return Choice(asked, "as asked", _check(request, asked))
    reasons: list[str] = []
    for sim in (GAZEBO, *default_names()):
        try:
            world = _check(request, sim)
            if world is not None:
                _refuse_slow(request)
            return Choice(sim, "; ".join(reasons), world)
        except AccordError as error:
            reasons.append(f"not {sim}: {error}".removesuffix("; try sim:=dart"))
    _check(request, REFERENCE)
    return Choice(REFERENCE, "; ".join(reasons))


def _check(request: Request, sim: str) -> World | None:
    """Refuse what a simulator cannot run; return Gazebo's world."""
    setup, lockstep = request.setup, request.on("lockstep")
    if sim == GAZEBO and is_file(setup.scenario.robot):
        raise AccordError("Gazebo takes robots with a package, not one that is a file")
    if sim == GAZEBO:
        return check_gazebo(
            setup, request["world"], lockstep=lockstep, contacts=request["contacts"]
        )
    if request["world"]:
        World.find(request["world"])
    simulator = make_simulator(setup, sim)
    what = "control_period over physics_step"
    count_steps(setup.scenario.control_period, simulator.physics_step, what)
    return None


def speed(request: Request) -> float | None:
    """Return the real-time factor of the last such run in Gazebo on this machine, if known."""
    return last_factor(request.setup, contacts=request["contacts"], lockstep=request.on("lockstep"))


def _refuse_slow(request: Request) -> None:
    """Refuse to let a person drive where the last run was slow."""
    factor = speed(request)
    if request.driven and factor is not None and factor < SLOW:
        raise AccordError(
            f"its last run on this machine came to {factor:.2g} of real time; sim:=gz for it anyway"
        )


@dataclass(frozen=True)
class Sight:
    """Hold which windows are shown, and whether somebody looks at all.

    `screen` is that windows can be shown; `view` what the end of the view in the browser means, or
    "" without one; `lacks` why there is none where one was due, or "".
    """

    gazebo: bool
    rviz: bool
    foxglove: bool
    screen: bool = False
    view: Literal["window", "view", ""] = ""
    lacks: str = ""

    @classmethod
    def of(cls, request: Request, sim: str) -> Sight:
        """Decide by the arguments, the display and what is installed.

        Raises:
            AccordError: for what is asked for and cannot be shown.
        """
        display = any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
        shown = display and not request.on("headless")
        gazebo = sim == GAZEBO and shown
        has_rviz = is_installed("rviz2")
        rviz, foxglove = (
            request.on("rviz", shown and has_rviz and not gazebo),
            request.on("foxglove"),
        )
        if rviz and not (has_rviz and display):
            what = "a display: DISPLAY is not set" if has_rviz else "the package rviz2"
            raise AccordError(f"rviz:=true needs {what}")
        if foxglove and not is_installed("foxglove_bridge"):
            raise AccordError("foxglove:=true needs the package foxglove_bridge")
        view = request.on("view", not (request.on("headless") or gazebo or rviz))
        asked, lacks = request["view"] == "true", ""
        if view and find_spec("viser") is None:
            from roboaccord.view import INSTALL as lacks  # imports more than a plan needs

            if asked:
                raise AccordError(lacks)
        stays: Literal["window", "view"] = "window" if shown or asked else "view"
        return cls(gazebo, rviz, foxglove, shown, stays if view and not lacks else "", lacks)

    @property
    def anybody(self) -> bool:
        """Whether a person is assumed to look."""
        return bool(self.gazebo or self.rviz or self.foxglove or self.view)

    def where(self, bag: str) -> str:
        """Return where to look at the run."""
        window = ["Gazebo's window"] if self.gazebo else []
        return ", ".join([*window, *self._with_reference(bag)])

    def where_reference(self, bag: str) -> str:
        """Return where the reference is seen as a second robot."""
        places = ", ".join(self._with_reference(bag))
        if places and not self.gazebo:
            return "reference: there, too"
        window = "not in Gazebo's window, but " if self.gazebo else ""
        return f"reference: {window}{places or 'by view:=true'}"

    def _with_reference(self, bag: str) -> list[str]:
        places = {
            "RViz": self.rviz,
            "the browser, at the address below": bool(self.view),
            "Foxglove at ws://localhost:8765": self.foxglove,
            f"accord view {bag}": bool(bag),
        }
        return [place for place, is_there in places.items() if is_there]
