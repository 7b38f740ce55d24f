"""One description, many simulators: the simulator-independent core of the workspace.

The names re-exported here are what a robot package, a user's controller or a notebook needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from roboaccord.contract import VERSION
from roboaccord.contract.lazy import lazy_names

if TYPE_CHECKING:
    from roboaccord.contract.contact import Contact, ContactPoint
    from roboaccord.contract.errors import AccordError
    from roboaccord.contract.interfaces import (
        Acceleration,
        Controller,
        ForceLaw,
        Inputs,
        LinkMotion,
        Observer,
        Odometry,
    )
    from roboaccord.contract.state import Array, Command, RobotState, Target
    from roboaccord.contract.trajectory import Event, Trajectory
    from roboaccord.description.parameters import Parameters, load_parameters
    from roboaccord.description.resources import share
    from roboaccord.run.factory import make_simulator
    from roboaccord.run.inputs import Hold
    from roboaccord.run.loop import simulate
    from roboaccord.scenario.controllers import make_controller
    from roboaccord.scenario.files import load_scenario
    from roboaccord.scenario.scenario import Scenario
    from roboaccord.scenario.setup import Robot, Setup, find_robot, robot_names
    from roboaccord.simulators.base import Simulator
    from roboaccord.simulators.reference import JointSpaceReference

__version__ = VERSION

# Imported when asked for (PEP 562): a command that needs none of them starts in half the time.
__getattr__, __dir__, _ = lazy_names(__name__, {
    "contract.contact": ("Contact", "ContactPoint"),
    "contract.errors": ("AccordError",),
    "contract.interfaces": (
        "Acceleration", "Controller", "ForceLaw", "Inputs", "LinkMotion", "Observer", "Odometry",
    ),
    "contract.state": ("Array", "Command", "RobotState", "Target"),
    "contract.trajectory": ("Event", "Trajectory"),
    "description.parameters": ("Parameters", "load_parameters"),
    "description.resources": ("share",),
    "run.factory": ("make_simulator",),
    "run.inputs": ("Hold",),
    "run.loop": ("simulate",),
    "scenario.controllers": ("make_controller",),
    "scenario.files": ("load_scenario",),
    "scenario.scenario": ("Scenario",),
    "scenario.setup": ("Robot", "Setup", "find_robot", "robot_names"),
    "simulators.base": ("Simulator",),
    "simulators.reference": ("JointSpaceReference",),
})  # fmt: skip

__all__ = [
    "Acceleration",
    "AccordError",
    "Array",
    "Command",
    "Contact",
    "ContactPoint",
    "Controller",
    "Event",
    "ForceLaw",
    "Hold",
    "Inputs",
    "JointSpaceReference",
    "LinkMotion",
    "Observer",
    "Odometry",
    "Parameters",
    "Robot",
    "RobotState",
    "Scenario",
    "Setup",
    "Simulator",
    "Target",
    "Trajectory",
    "find_robot",
    "load_parameters",
    "load_scenario",
    "make_controller",
    "make_simulator",
    "robot_names",
    "share",
    "simulate",
]
