"""A robot for tests of the core: a turning and a sliding joint on a base, in files of its own.

Run as a program, `python toy_robot.py SHARE BAG` records without end, for a test to kill it.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from roboaccord.bag.writer import BagWriter
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.contract.trajectory import Event, Trajectory
from roboaccord.numerics.rotations import yaw_quaternion
from roboaccord.scenario.controllers import Passive
from roboaccord.scenario.scenario import Scenario
from roboaccord.scenario.setup import Robot, Setup
from roboaccord.simulators.base import Simulator

PERIOD = 0.01
JOINTS = ("turn", "slide")
URDF = """<robot name="toy">
  <link name="base_link"/><link name="arm_link"/><link name="tip_link"/><link name="eye_link"/>
  <joint name="turn" type="revolute">
    <parent link="base_link"/><child link="arm_link"/>
    <origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/><axis xyz="0 0.6 0.8"/>
  </joint>
  <joint name="slide" type="prismatic">
    <parent link="arm_link"/><child link="tip_link"/>
    <origin xyz="1 0 0" rpy="0.1 0 0"/><axis xyz="0 1 0"/>
  </joint>
  <joint name="eye" type="fixed">
    <parent link="tip_link"/><child link="eye_link"/><origin xyz="0 0 0.5"/>
  </joint>
</robot>"""


class ToyRobot(Robot):
    """A robot without a reference, and with no parameters."""

    name = "toy"
    package = "toy_robot_files"
    summary = "for tests"
    controllers = {"none": Passive}

    def joints(self, setup: Setup) -> tuple[str, ...]:
        return JOINTS

    def effort_limits(self, setup: Setup) -> Array:
        return np.ones(len(JOINTS))

    def reference(self, setup: Setup) -> Simulator:
        raise AccordError("the toy has no reference")


class SwitchedRobot(ToyRobot):
    """The same with two magnets, of which it starts with the first one on."""

    switches = {"magnet_a": True, "magnet_b": False}


ROBOT = ToyRobot()


def install(prefix: Path) -> None:
    """Write the files of the robot below a prefix, and let them be found."""
    folder = prefix / "share" / ROBOT.package
    (folder / "urdf").mkdir(parents=True, exist_ok=True)
    (folder / "config").mkdir(exist_ok=True)
    (folder / "package.xml").write_text("<package/>")
    (folder / "config" / "parameters.yaml").write_text("{}")
    (folder / "urdf" / "toy.urdf.xacro").write_text(URDF)
    os.environ["AMENT_PREFIX_PATH"] = str(prefix)


def make_setup() -> Setup:
    """Return the robot with a scenario."""
    return Setup(ROBOT, Scenario(robot="toy", name="wave", control_period=PERIOD, seed=3))


def make_switched() -> Setup:
    """Return the robot with two magnets, of which it starts with the first one on."""
    return Setup(SwitchedRobot(), make_setup().scenario)


def switched_motion(ticks: int = 20, change: int = 7) -> Trajectory:
    """Return the smooth motion, with the magnets changed by the command at a tick."""
    states = [
        replace(state_at(i), switches={"magnet_a": i <= change, "magnet_b": i > change})
        for i in range(ticks + 1)
    ]
    time = states[change].time
    events = [Event(time, "magnet_off", "magnet_a"), Event(time, "magnet_on", "magnet_b", 0.5)]
    return Trajectory.from_states(JOINTS, states, events)


def state_at(tick: int, period: float = PERIOD, gain: float = 1.0) -> RobotState:
    """Return a smooth motion at a tick, its joints scaled by a factor."""
    t = tick * round(period * 1e9) / 1e9
    q = gain * np.array([np.sin(t), 0.1 * np.cos(2 * t)])
    qd = gain * np.array([np.cos(t), -0.2 * np.sin(2 * t)])
    return RobotState(
        t, q, qd, -q, np.array([t, np.sin(t), 0.0]), yaw_quaternion(4 * t), np.arange(6) * t
    )


def record(bag: Path, ticks: int = 200, **motion: float) -> Trajectory:
    """Record the smooth motion into a bag, and return it."""
    states = [state_at(tick, **motion) for tick in range(ticks + 1)]
    events = [Event(0.5, "impact", "tip_link-ground", 0.25)]
    with BagWriter(bag, make_setup(), "engine", "1.2", "direct") as writer:
        for state in states[:-1]:
            writer.on_state(state)
            writer.on_command(state, Command(effort=2.0 * state.q))
        writer.on_state(states[-1])
        writer.on_event(events[0])
        trajectory = Trajectory.from_states(JOINTS, states, events)
        writer.finish(trajectory.sha256())
    return trajectory


def record_for_ever(bag: Path) -> None:
    """Record in real time, and print on stdout which tick is done."""
    with BagWriter(bag, make_setup(), "engine", "1.2", "direct") as writer:
        tick = 0
        while True:
            state = state_at(tick)
            writer.on_state(state)
            writer.on_command(state, Command(effort=2.0 * state.q))
            sys.stdout.write(f"{tick}\n")
            sys.stdout.flush()
            tick += 1
            time.sleep(0.001)


if __name__ == "__main__":
    install(Path(sys.argv[1]))
    record_for_ever(Path(sys.argv[2]))
