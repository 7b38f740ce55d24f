"""Engines that do not put in force what they are commanded, in every robot and engine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from roboaccord.bag.reader import read_run
from roboaccord.bag.writer import write_trajectory
from roboaccord.contract.fault import parse_fault
from roboaccord.contract.interfaces import Controller
from roboaccord.contract.state import Command, RobotState, Target
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.levels.drive import check_drive
from roboaccord.crosscheck.recorded import StepCheck, check_bag
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.proxy import Proxy
from running import run_in, setup_of
from slow_cases import late

ROBOTS = [
    ("snake", "serpenoid", []),
    ("monkeybot", "swing", ['controller.steps=[{"at": 0.0, "hold": "a", "effort": 0.3}]']),
    ("packbot", "reach", []),
    ("roller_sphere", "figure_eight", []),
]
FAULTS = ["loose", "weak:0.4", "frozen", *late("backlash:0.02", "slipping:0.2", "stuck")]


class Shaking:
    """Command efforts at random, of either sign (Controller)."""

    def reset(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)

    def update(self, state: RobotState, target: Target | None) -> Command:
        return Command(self._rng.uniform(-5.0, 5.0, len(state.q)))


class Disobedient(Proxy):
    """Hand an engine efforts that are not the commanded ones, and report what it put in force.

    From 20 ms on: sin(t) times as large, which no limit, fault or delay makes.
    """

    def _advance(self, command: Command, duration: float) -> None:
        time = self._inner.state().time
        factor = np.sin(time) if time > 0.0195 else 1.0
        super()._advance(replace(command, effort=factor * self._effort), duration)

    def _read(self) -> RobotState:
        return replace(super()._read(), time=self._time)


def run(
    setup: Setup, engine: str, wrong: bool = False, controller: Controller | None = None
) -> Trajectory:
    simulator = make_simulator(setup, engine)
    return run_in(setup, Disobedient(simulator) if wrong else simulator, controller=controller)


@pytest.mark.parametrize("engine", ["reference", "dart", "mujoco", "drake"])
@pytest.mark.parametrize(("robot", "scenario", "changes"), ROBOTS)
def test_what_is_not_as_commanded_is_found(
    robot: str, scenario: str, changes: list[str], engine: str
) -> None:
    """And nothing of an engine that does as it is told."""
    if engine == "drake":
        if robot in ("packbot", "roller_sphere"):
            return  # refuses them
        pytest.importorskip("pydrake", reason="Drake is not installed")
    setup = setup_of(robot, scenario, *changes, "duration=0.06")
    right, wrong = (check_drive(setup, run(setup, engine, each)) for each in (False, True))
    assert (right.off, right.judged) == (0, right.ticks)
    assert right.ticks == round(0.06 / setup.scenario.control_period)
    assert wrong.time == pytest.approx(0.02, abs=0.5 * setup.scenario.control_period)
    assert wrong.error > 0.0 and wrong.where in setup.joints


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_the_scenario_are_part_of_a_command(fault: str) -> None:
    """What drives make of an effort is expected; without the fault it would be outside."""
    setup = setup_of("packbot", "reach", "duration=0.2")
    failing = setup.failing([parse_fault(f"elbow1={fault}@0.02")])
    motion = run(failing, "reference", controller=Shaking())
    assert check_drive(failing, motion).off == 0
    sound = check_drive(setup, motion)
    assert bool(sound.off) is (fault.partition(":")[0] in ("loose", "weak", "backlash"))
    assert sound.where == ("elbow1" if sound.off else "")


def test_efforts_of_a_bag_are_judged_by_its_commands(tmp_path: Path) -> None:
    """The states of a bag hold 0.9 of the efforts that its commands ask for."""
    setup = setup_of("monkeybot", "swing", *ROBOTS[1][2], "duration=0.06")
    motion = run(setup, "mujoco")
    for factor, outcome in ((1.0, "within"), (0.9, "outside")):
        bag = tmp_path / f"{factor}"
        changed = replace(motion, effort=factor * motion.effort)
        write_trajectory(bag, setup, "mujoco", "3", changed)
        report = check_bag(read_run(bag))
        assert report.levels.drive["mujoco"].outcome == outcome
        assert report.ok is (outcome == "within")
    sizes = {each.kind: each.size for each in report.checks["drive"]["mujoco"].kinds}
    assert sizes["scaled"] == pytest.approx(0.9)
    assert "scaled by 0.9" in report.levels.drive["mujoco"].reason


def test_only_a_launch_of_gazebo_may_let_a_command_act_late() -> None:
    """Nothing waits for a command there; elsewhere a tick of delay is outside."""
    setup = setup_of("snake", "serpenoid", "duration=0.06")
    motion = run(setup, "dart")
    late = np.roll(motion.effort, 3, axis=0)
    late[:4] = motion.effort[0]
    motion = replace(motion, effort=late)
    free = ("gz", "ros_gz (free)", "within"), ("dart", "ros (free)", "within")
    for engine, transport, outcome in (*free, ("dart", "ros", "outside")):
        check = StepCheck(setup, engine, "1", transport=transport)
        for i in range(len(motion) - 1):
            check.compare(motion.state(i), motion.state(i + 1), command=motion.requested(i))
        check.choose_delay()
        assert check.verdict().levels.drive[engine].outcome == outcome
