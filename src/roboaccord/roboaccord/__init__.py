"""One description, many simulators: the simulator-independent core of the workspace.

The names re-exported here are what a robot package, a user's controller or a notebook needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from roboaccord.contract import plugins
from roboaccord.numerics.lazy import lazy_names

if TYPE_CHECKING:
    from roboaccord.bag.reader import BagRun as BagRun
    from roboaccord.cli.notebook import html_of as html_of
    from roboaccord.cli.notebook import text_of as text_of
    from roboaccord.contract.contact import Contact as Contact
    from roboaccord.contract.contact import ContactPoint as ContactPoint
    from roboaccord.contract.errors import AccordError as AccordError
    from roboaccord.contract.interfaces import Acceleration as Acceleration
    from roboaccord.contract.interfaces import Controller as Controller
    from roboaccord.contract.interfaces import ForceLaw as ForceLaw
    from roboaccord.contract.interfaces import Inputs as Inputs
    from roboaccord.contract.interfaces import LinkMotion as LinkMotion
    from roboaccord.contract.interfaces import Observer as Observer
    from roboaccord.contract.interfaces import Odometry as Odometry
    from roboaccord.contract.state import Array as Array
    from roboaccord.contract.state import Command as Command
    from roboaccord.contract.state import RobotState as RobotState
    from roboaccord.contract.state import Target as Target
    from roboaccord.contract.trajectory import Event as Event
    from roboaccord.contract.trajectory import Trajectory as Trajectory
    from roboaccord.contract.version import __version__ as __version__
    from roboaccord.crosscheck.parity.result import Parity as Parity
    from roboaccord.crosscheck.recorded import RecordedReport as RecordedReport
    from roboaccord.crosscheck.report import Report as Report
    from roboaccord.description.parameters import Parameters as Parameters
    from roboaccord.description.parameters import load_parameters as load_parameters
    from roboaccord.description.resources import share as share
    from roboaccord.door.checks import crosscheck as crosscheck
    from roboaccord.door.reading import parity as parity
    from roboaccord.door.runs import compare as compare
    from roboaccord.door.runs import read_bag as read_bag
    from roboaccord.door.runs import run as run
    from roboaccord.door.runs import sweep as sweep
    from roboaccord.report.comparison import Comparison as Comparison
    from roboaccord.report.stills import plot_of as plot_of
    from roboaccord.run.inputs import Hold as Hold
    from roboaccord.run.loop import make_simulator as make_simulator
    from roboaccord.run.loop import simulate as simulate
    from roboaccord.run.runner import Run as Run
    from roboaccord.run.sweep import Study as Study
    from roboaccord.scenario.controllers import make_controller as make_controller
    from roboaccord.scenario.files import load_scenario as load_scenario
    from roboaccord.scenario.scenario import Scenario as Scenario
    from roboaccord.scenario.setup import Robot as Robot
    from roboaccord.scenario.setup import Setup as Setup
    from roboaccord.scenario.setup import find_robot as find_robot
    from roboaccord.scenario.setup import robot_names as robot_names
    from roboaccord.simulators.base import Simulator as Simulator
    from roboaccord.simulators.reference import JointSpaceReference as JointSpaceReference

# Imported when asked for (PEP 562): a command that needs none of them starts in half the time.
_get, _names, _lazy = lazy_names(__name__, rooms=("crosscheck", "run"))
__all__ = [name for name in _lazy if name not in ("__version__", "html_of", "plot_of", "text_of")]


def __getattr__(name: str) -> Any:
    """Return a name of the core, or a function that an installed package adds."""
    if name in _lazy or name.startswith("__"):
        return _get(name)
    if name in plugins.entries("functions"):
        return plugins.load("functions", name)
    if line := plugins.lacking("functions", name):
        raise AttributeError(line)
    return _get(name)


def __dir__() -> list[str]:
    return sorted({*_names(), *(n for n in plugins.entries("functions") if "." not in n)})
