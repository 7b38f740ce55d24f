"""One description, many simulators: the simulator-independent core of the workspace.

The names re-exported here are what a robot package, a user's controller or a notebook needs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from roboaccord.contract.errors import AccordError
    from roboaccord.contract.interfaces import Controller, Simulator
    from roboaccord.contract.state import Command, RobotState, Target
    from roboaccord.contract.trajectory import Event, Trajectory
    from roboaccord.run.factory import make_simulator
    from roboaccord.run.loop import simulate
    from roboaccord.scenario.controllers import make_controller
    from roboaccord.scenario.files import load_scenario
    from roboaccord.scenario.scenario import Scenario
    from roboaccord.scenario.setup import Robot, Setup, find_robot, robot_names

__version__ = "0.1.0"

# Imported when asked for (PEP 562): a command that needs none of them starts in half the time.
_MODULES = {
    "contract.errors": ("AccordError",),
    "contract.interfaces": ("Controller", "Simulator"),
    "contract.state": ("Command", "RobotState", "Target"),
    "contract.trajectory": ("Event", "Trajectory"),
    "run.factory": ("make_simulator",),
    "run.loop": ("simulate",),
    "scenario.controllers": ("make_controller",),
    "scenario.files": ("load_scenario",),
    "scenario.scenario": ("Scenario",),
    "scenario.setup": ("Robot", "Setup", "find_robot", "robot_names"),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "AccordError",
    "Command",
    "Controller",
    "Event",
    "Robot",
    "RobotState",
    "Scenario",
    "Setup",
    "Simulator",
    "Target",
    "Trajectory",
    "find_robot",
    "load_scenario",
    "make_controller",
    "make_simulator",
    "robot_names",
    "simulate",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
