"""Answers of a real Gazebo server, recorded, for machines where there is none.

    python src/roboaccord_ros/test/gazebo_answers.py

records them anew where Gazebo's Python bindings are. A request that differs from the recorded one
by more than round-off is refused: nothing here computes a motion.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from roboaccord.contract.state import Array, RobotState
from roboaccord.crosscheck.measures.one_step import OneStepCheck, check_steps
from roboaccord.engines import spec
from roboaccord.gazebo.twin import on_ground
from roboaccord.run.loop import make_simulator, run_setup
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.setup import Setup
from roboaccord_ros.gazebo import in_process, simulator
from roboaccord_ros.gazebo.world import World

FILE = Path(__file__).parent / "data" / "gazebo_answers.npz"
VERSION = "8.14.0"
STEPS = (1e-3, 5e-4, 2.5e-4)
CLOSE = 1e-6  # relative, of requests: the libraries of two machines round differently, and it grows

Start = tuple[Array, Array] | None  # joint coordinates and rates that a request sets


def setup_of(step: float = STEPS[0]) -> Setup:
    """Return a short snake that moves for 20 ms."""
    changes = ["duration=0.02", "parameters.joints=6", f"physics_step={step}"]
    return on_ground(Setup.of(load_scenario("snake", "snake", "serpenoid", changes)), "spheres")


def check() -> OneStepCheck:
    """Run Gazebo at several physics steps, and compare single steps with the reference."""
    runs = {h: run_setup(setup_of(h), make_simulator(setup_of(h), "gz")) for h in STEPS}
    return check_steps(setup_of(), spec("gz"), 1, runs)


class Recording(in_process.InProcess):
    """A real server whose requests and answers are kept."""

    kept: ClassVar[list[tuple[Array, in_process.Answer]]] = []

    def step(
        self, effort: Array, count: int, start: Start = None, wrench: Array | None = None
    ) -> in_process.Answer:
        """Take steps, and keep them."""
        answer = super().step(effort, count, start, wrench)
        self.kept.append((request(effort, count, start), answer))
        return answer


class Replayed:
    """Answer requests, of all servers in turn, as they were answered (InProcess)."""

    unanswered: ClassVar[list[tuple[Array, Array]]] = []

    def __init__(
        self,
        world: World,
        robot: str,
        start: RobotState,
        urdf: str,
        joints: Iterable[str],
        *_: Any,
        **__: bool,
    ) -> None:
        self.steps, self._count = 0, len([*joints])
        assert robot in urdf and world.name and start.time == 0.0

    def close(self) -> None:
        """Have nothing to end."""

    def step(
        self, effort: Array, count: int, start: Start = None, wrench: Array | None = None
    ) -> in_process.Answer:
        """Return the recorded answer to this request."""
        recorded, answer = self.unanswered.pop(0)
        np.testing.assert_allclose(request(effort, count, start), recorded, rtol=CLOSE, atol=CLOSE)
        self.steps += count
        n = self._count
        q, qd, pose, twist = np.split(answer, [n, 2 * n, 2 * n + 7])
        return q.tolist(), qd.tolist(), pose.tolist(), twist.tolist()


def request(effort: Array, count: int, start: Start) -> Array:
    """Return a request in numbers; what is not set is 0."""
    numbers = np.concatenate(start) if start else np.zeros(0)
    return np.concatenate([effort, [count, len(numbers)], numbers])


def replay() -> None:
    """Take the recorded answers from the first one on."""
    with np.load(FILE) as data:
        ends = np.cumsum(data["sizes"])
        asked = np.split(data["requests"], ends[:-1])
        Replayed.unanswered = list(zip(asked, data["answers"], strict=True))


def main() -> int:
    """Record."""
    simulator.InProcess = Recording  # type: ignore[misc]
    check()
    requests, answers = zip(*Recording.kept, strict=True)
    np.savez_compressed(
        FILE,
        sizes=[len(each) for each in requests],
        requests=np.concatenate(requests),
        answers=np.array([np.concatenate(each) for each in answers]),
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
