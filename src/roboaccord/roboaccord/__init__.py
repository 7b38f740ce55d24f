"""One description, many simulators: the simulator-independent core of the workspace.

The names re-exported here are what a robot package, a user's controller or a notebook needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from roboaccord.contract import VERSION
from roboaccord.numerics.lazy import lazy_names

if TYPE_CHECKING:
    from roboaccord.bag.reader import BagRun
    from roboaccord.cli.shown import html_of as html_of
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
    from roboaccord.crosscheck.parity.result import Parity
    from roboaccord.crosscheck.recorded import RecordedReport
    from roboaccord.crosscheck.report import Report
    from roboaccord.description.parameters import Parameters, load_parameters
    from roboaccord.description.resources import share
    from roboaccord.door.checks import crosscheck
    from roboaccord.door.reading import parity
    from roboaccord.door.recordings import compare, read_bag
    from roboaccord.door.runs import run, sweep
    from roboaccord.door.views import view
    from roboaccord.report.comparison import Comparison
    from roboaccord.report.stills import plot_of as plot_of
    from roboaccord.run.factory import make_simulator
    from roboaccord.run.inputs import Hold
    from roboaccord.run.loop import simulate
    from roboaccord.run.runner import Run
    from roboaccord.run.sweep import Study
    from roboaccord.scenario.controllers import make_controller
    from roboaccord.scenario.files import load_scenario
    from roboaccord.scenario.scenario import Scenario
    from roboaccord.scenario.setup import Robot, Setup, find_robot, robot_names
    from roboaccord.simulators.base import Simulator
    from roboaccord.simulators.reference import JointSpaceReference

__version__ = VERSION

# Imported when asked for (PEP 562): a command that needs none of them starts in half the time.
__getattr__, __dir__, _ = lazy_names(__name__, {
    "bag.reader": ("BagRun",),
    "cli.shown": ("html_of",),
    "contract.contact": ("Contact", "ContactPoint"),
    "contract.errors": ("AccordError",),
    "contract.interfaces": (
        "Acceleration", "Controller", "ForceLaw", "Inputs", "LinkMotion", "Observer", "Odometry",
    ),
    "contract.state": ("Array", "Command", "RobotState", "Target"),
    "contract.trajectory": ("Event", "Trajectory"),
    "crosscheck.parity.result": ("Parity",),
    "crosscheck.recorded": ("RecordedReport",),
    "crosscheck.report": ("Report",),
    "description.parameters": ("Parameters", "load_parameters"),
    "description.resources": ("share",),
    "crosscheck": (),
    "door.reading": ("parity",),
    "door.recordings": ("compare", "read_bag"),
    "door.runs": ("sweep",),
    "report.comparison": ("Comparison",),
    "report.stills": ("plot_of",),
    "run": (),
    "run.factory": ("make_simulator",),
    "run.inputs": ("Hold",),
    "run.loop": ("simulate",),
    "run.runner": ("Run",),
    "run.sweep": ("Study",),
    "scenario.controllers": ("make_controller",),
    "scenario.files": ("load_scenario",),
    "scenario.scenario": ("Scenario",),
    "scenario.setup": ("Robot", "Setup", "find_robot", "robot_names"),
    "simulators.base": ("Simulator",),
    "simulators.reference": ("JointSpaceReference",),
    "view": (),
})  # fmt: skip

__all__ = [
    "Acceleration",
    "AccordError",
    "Array",
    "BagRun",
    "Command",
    "Comparison",
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
    "Parity",
    "RecordedReport",
    "Report",
    "Robot",
    "RobotState",
    "Run",
    "Scenario",
    "Setup",
    "Simulator",
    "Study",
    "Target",
    "Trajectory",
    "compare",
    "crosscheck",
    "find_robot",
    "load_parameters",
    "load_scenario",
    "make_controller",
    "make_simulator",
    "parity",
    "read_bag",
    "robot_names",
    "run",
    "share",
    "simulate",
    "sweep",
    "view",
]
