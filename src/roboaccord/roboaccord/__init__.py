"""One description, many simulators: the simulator-independent core of the workspace.

The names re-exported here are what a robot package, a user's controller or a notebook needs.
"""

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
