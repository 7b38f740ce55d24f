"""Rows of the snake: its reference, the engines on its gait, and lockstep over ROS."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from benchmarks.speed.rows import Pass, Row, rate, sized
from roboaccord.bag.writer import BagWriter
from roboaccord.contract.state import Command, RobotState
from roboaccord.engines import engine_names, spec
from roboaccord.engines.spec import Available
from roboaccord.run.answer import reset_controller
from roboaccord.run.loop import drive, make_simulator
from roboaccord.scenario import Setup, load_scenario, make_controller

LENGTH = 1e-3 * sized(2000)  # s of a recorded run: 2000 control periods of 1 ms
FREE = 0.2  # s of the motion without friction, in which no joint comes to its stop
COARSE = {"reference": 0.05, "dart": 0.0002}  # steps of one error, 1e-4 [s]
# Of one error, of the same scheme [s], usual steps of 1 ms.
FINE = {"reference": 0.001, "mujoco": 0.001}
CONVERGED = 1e-5  # step of the motion that errors are measured by [s]: a twentieth of the finest
TICKS = sized(10_000)  # of the lockstep; any that takes seconds would do
GAIT, POST = "serpenoid", "lateral_undulation"
LOCKSTEP = Path(__file__).parents[1] / "lockstep.py"


def rows() -> Iterator[Row]:
    looked = {name: spec(name).look() for name in engine_names()}
    found = {name: each.version for name, each in looked.items() if isinstance(each, Available)}
    yield from free_rows(found)
    seconds = recorded(GAIT, "reference")
    yield Row(
        "snake, serpenoid gait with friction and recorder, reference",
        "times real time",
        lambda: seconds() * setup_of(GAIT, LENGTH).scenario.control_period,
        None,
        "no peer: the friction law is this project's",
        target=25.0,
    )
    for engine, replay, target in (("dart", replay_dart, 8e3), ("mujoco", replay_mujoco, 6e3)):
        if engine in found:
            yield Row(
                f"snake, post's gait with friction and recorder, {engine}",
                "ticks/s",
                recorded(POST, engine),
                replay(),
                f"{engine} {found[engine]}, its bare step on the same motion",
                target=target,
            )
    if importlib.util.find_spec("rclpy"):
        for words, name, target in (
            ((), "in one process", 12e3),
            (("--processes",), "across processes", 6e3),
        ):
            yield Row(
                f"lockstep {name}, 21 joints and recorder, by wall time, all cores",
                "ticks/s",
                lambda words=words: lockstep(*words),  # type: ignore[misc]
                lambda: lockstep("--direct"),
                "the direct loop, without ROS",
                target=target,
            )


def setup_of(scenario: str, duration: float, *changes: str) -> Setup:
    """Return the setup of one of the snake's scenarios."""
    changed = [f"duration={duration}", *changes]
    return Setup.of(load_scenario("snake", "snake", scenario, changed))


def free_rows(found: dict[str, str]) -> Iterator[Row]:
    """Yield the chain without friction, beside each engine at the same error."""
    for engine, step in (("mujoco", FINE), ("dart", COARSE)):
        if engine not in found:
            continue
        steps = step["reference"], (FINE | COARSE)[engine]
        ours, peer = (free(name, step) for name, step in zip(("reference", engine), steps))
        errors = [error_of(name, step) for name, step in zip(("reference", engine), steps)]
        if errors[0] > 1.01 * errors[1]:
            raise AssertionError(f"the reference errs by {errors[0]:.2g}, {engine} {errors[1]:.2g}")
        yield Row(
            f"snake without friction at an error of {errors[1]:.1e} rad",
            "times real time",
            ours,
            peer,
            f"{engine} {found[engine]}, steps of {1e3 * steps[1]:g} ms to {1e3 * steps[0]:g} ms",
        )


def bent(setup: Setup) -> RobotState:
    """Return a bent chain in motion."""
    n = len(setup.joints)
    part = 2.0 * np.pi * np.arange(1, n + 1) / n
    none = np.zeros(n)
    return RobotState(0.0, 0.1 * np.sin(1.5 * part), 0.8 * np.cos(part), none)


def coasting(engine: str, step: float) -> tuple[Any, RobotState, Command]:
    """Return a simulator without friction, its start, and a command of no efforts."""
    setup = setup_of(
        GAIT, FREE, "friction={law: none}", f"physics_step={step}", f"control_period={FREE}"
    )
    return make_simulator(setup, engine), bent(setup), Command(np.zeros(len(setup.joints)))


def free(engine: str, step: float) -> Pass:
    """Return a pass of the motion without friction, in one call of the engine."""
    simulator, start, none = coasting(engine, step)

    def coast() -> float:
        spent, times = 0.0, 0
        while spent < 0.2:
            simulator.reset(start)
            began = time.process_time()
            simulator.step(none, FREE)
            spent += time.process_time() - began
            times += 1
        return times * FREE / spent

    return coast


def error_of(engine: str, step: float) -> float:
    """Return the largest error of a joint [rad] or of the base's place [m] at the end."""
    ends = []
    for name, size in ((engine, step), ("reference", CONVERGED)):
        simulator, start, none = coasting(name, size)
        simulator.reset(start)
        ends.append(simulator.step(none, FREE))
    one, other = ends
    return float(max(abs(one.q - other.q).max(), abs(one.position - other.position)[:2].max()))


def recorded(scenario: str, engine: str) -> Pass:
    """Return a pass of a recorded run: ticks by the processor time of all threads."""
    setup = setup_of(scenario, LENGTH)
    simulator, controller = make_simulator(setup, engine), make_controller(setup)

    def run() -> float:
        with (
            tempfile.TemporaryDirectory() as folder,
            BagWriter(Path(folder, "bag"), setup, engine, simulator.version, "direct") as bag,
        ):

            def record() -> None:
                follow(setup, simulator, controller, bag)
                bag.flush()

            return rate(record, ticks_of(setup))

    return run


def ticks_of(setup: Setup) -> int:
    """Return the number of control ticks of a run."""
    return round(setup.scenario.duration / setup.scenario.control_period)


def follow(setup: Setup, simulator: Any, controller: Any, *observers: Any) -> None:
    """Run a scenario in the direct loop."""
    reset_controller(controller, 0)
    drive(
        simulator=simulator,
        controller=controller,
        initial=setup.initial,
        duration=setup.scenario.duration,
        control_period=setup.scenario.control_period,
        observers=observers,
    )


def replay_dart() -> Pass:
    """Return a pass of DART's own step under the forces of the post's gait: the same motion."""
    setup = setup_of(POST, LENGTH)
    simulator: Any = make_simulator(setup, "dart")
    forces: list[np.ndarray] = []
    give = simulator._set_forces

    def noted() -> None:
        forces.append(simulator._generalised.copy())
        give()

    simulator._set_forces = noted
    follow(setup, simulator, make_controller(setup))
    take, step = simulator._skeleton.setForces, simulator._world.step

    def replay() -> None:
        for force in forces:
            take(force)
            step()

    def run() -> float:
        simulator.reset(setup.initial)
        return rate(replay, ticks_of(setup))

    return run


def replay_mujoco() -> Pass:
    """Return a pass of MuJoCo's own steps from the states of the post's gait, forces held."""
    setup = setup_of(POST, LENGTH)
    simulator: Any = make_simulator(setup, "mujoco")
    model, data = simulator._model, simulator._data
    ticks: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    advance = simulator._substeps

    def noted(effort: np.ndarray, count: int) -> None:
        start = data.qpos.copy(), data.qvel.copy()
        advance(effort, count)
        ticks.append((*start, data.qfrc_applied.copy()))

    simulator._substeps = noted
    follow(setup, simulator, make_controller(setup))
    steps = round(setup.scenario.control_period / setup.scenario.physics_step)
    position, velocity, force = data.qpos, data.qvel, data.qfrc_applied

    def replay() -> None:
        for q, v, f in ticks:
            position[:], velocity[:], force[:] = q, v, f
            mujoco.mj_step(model, data, steps)

    return lambda: rate(replay, len(ticks))


def lockstep(*words: str) -> float:
    """Return the ticks a second of messages alone, in processes of their own, on all cores."""
    done = subprocess.run(
        [sys.executable, str(LOCKSTEP), f"--ticks={TICKS}", *words],
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=lambda: os.sched_setaffinity(0, range(os.cpu_count() or 1)),
    )
    return float(done.stdout.split()[0])
