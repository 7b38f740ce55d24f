"""One description, many simulators: the simulator-independent core of the workspace.

The names re-exported here are what a robot package, a user's controller or a notebook needs.
"""

from roboaccord.assembly import Setup, make_controller, make_simulator
from roboaccord.errors import AccordError
from roboaccord.interfaces import Controller, Simulator
from roboaccord.loop import simulate
from roboaccord.robot import Robot, find_robot, robot_names
from roboaccord.scenario import Scenario, load_scenario
from roboaccord.state import Command, RobotState, Target
from roboaccord.trajectory import Event, Trajectory

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
