from typing import Any

# Functions that other packages add by the entry points `roboaccord.functions`: for type checkers,
# to which a name of a package that is not installed is unknown.
from roboaccord_files.parity.door import parity as parity
from roboaccord_files.parity.pair import Pair as Pair
from roboaccord_files.parity.result import Parity as Parity
from roboaccord_files.rules.find import findings as findings
from roboaccord_studies.sweep.door import sweep as sweep
from roboaccord_studies.sweep.study import Study as Study
from roboaccord_view.door import view as view

from .bag.reader import BagRun as BagRun
from .contract.contact import Contact as Contact
from .contract.contact import ContactPoint as ContactPoint
from .contract.errors import AccordError as AccordError
from .contract.interfaces import Acceleration as Acceleration
from .contract.interfaces import Controller as Controller
from .contract.interfaces import ForceLaw as ForceLaw
from .contract.interfaces import Inputs as Inputs
from .contract.interfaces import LinkMotion as LinkMotion
from .contract.interfaces import Observer as Observer
from .contract.interfaces import Odometry as Odometry
from .contract.state import Array as Array
from .contract.state import Command as Command
from .contract.state import RobotState as RobotState
from .contract.state import Target as Target
from .contract.trajectory import Event as Event
from .contract.trajectory import Trajectory as Trajectory
from .contract.version import __version__ as __version__
from .crosscheck.report import Report as Report
from .description.parameters import Parameters as Parameters
from .description.parameters import load_parameters as load_parameters
from .description.resources import share as share
from .door.arguments import setup_of as setup_of
from .door.checks import crosscheck as crosscheck
from .door.env import make_env as make_env
from .door.runs import read_bag as read_bag
from .door.runs import run as run
from .report.comparison import Comparison as Comparison
from .report.comparison import compare as compare
from .run.inputs import Hold as Hold
from .run.loop import make_simulator as make_simulator
from .run.loop import simulate as simulate
from .run.runner import Run as Run
from .scenario.controllers import make_controller as make_controller
from .scenario.files import load_scenario as load_scenario
from .scenario.installed import robot_names as robot_names
from .scenario.scenario import Scenario as Scenario
from .scenario.setup import Robot as Robot
from .scenario.setup import Setup as Setup
from .scenario.setup import find_robot as find_robot
from .simulators.base import Simulator as Simulator
from .simulators.reference import JointSpaceReference as JointSpaceReference

def __getattr__(name: str) -> Any: ...
