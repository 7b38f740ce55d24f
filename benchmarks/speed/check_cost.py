"""Split the CPU time of a command into bare steps, imports, and ours.

    python -m benchmarks.speed.check_cost crosscheck snake serpenoid
    python -m benchmarks.speed.check_cost --json crosscheck my_arm.urdf

The command runs twice, warm: as a user starts it, for its CPU time with that of its workers; and in
this process alone, where the physics steps of engines and references are counted by simulator, and
the time of imports. Then each of these simulators is stepped in a tight loop over the commands that
it had in the check: the counts times what a step costs there are the bare steps. Twins are ours.
"""

from __future__ import annotations

import argparse
import importlib
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, redirect_stdout
from dataclasses import dataclass, field
from functools import partial
from io import StringIO
from typing import Any
from unittest.mock import patch

from roboaccord.cli.main import run
from roboaccord.contract.state import Command, RobotState
from roboaccord.engines.twin import Twin
from roboaccord.numerics.machine import cores
from roboaccord.simulators.base import Simulator

KEPT = 200  # commands of a simulator that are stepped again; any whose pass takes LEAST would do
PASSES = 5  # of which the fastest counts
LEAST = 0.05  # s of a pass: below 1 % of it is the timer's and the scheduler's


@dataclass
class Stepped:
    """Hold the physics steps of a kind of simulator, and how it is stepped again."""

    simulator: Simulator
    start: RobotState
    steps: int = 0
    commands: list[tuple[Command, float]] = field(default_factory=list)

    def add(self, command: Command, duration: float) -> None:
        self.steps += round(duration / self.simulator.physics_step)
        if len(self.commands) < KEPT:
            self.commands.append((command, duration))

    def cost(self) -> float:
        """Return what a physics step costs in a tight loop [s of CPU]."""
        best, simulator = float("inf"), self.simulator
        for _ in range(PASSES):
            count, begin = 0, time.process_time()
            while time.process_time() - begin < LEAST:
                simulator.reset(self.start)
                for command, duration in self.commands:
                    simulator.step(command, duration)
                count += sum(round(d / simulator.physics_step) for _, d in self.commands)
            best = min(best, (time.process_time() - begin) / count)
        return best


class Count:
    """Count the steps of simulators that no other one steps, and time imports."""

    def __init__(self) -> None:
        self.stepped = dict[tuple[str, float], Stepped]()
        self.importing, self._inside, self._depth = 0.0, 0, 0

    def of(self, simulator: Simulator, state: RobotState) -> Stepped | None:
        if self._inside or any(isinstance(part, Twin) for part in simulator.parts()):
            return None
        key = simulator.name, simulator.physics_step
        return self.stepped.setdefault(key, Stepped(simulator, state))

    def step(self, plain: Callable[..., Any], simulator: Simulator, *what: Any) -> Any:
        found = self.of(simulator, simulator.state())
        if found:
            found.add(*what)
        return self._within(plain, simulator, *what)

    def predict(self, plain: Callable[..., Any], simulator: Simulator, *what: Any) -> Any:
        starts, *phases = what
        found = self.of(simulator, starts.state(0)) if len(starts) and phases else None
        for held, lasting in phases if found else ():
            for i, duration in enumerate(lasting):
                if found and duration:
                    found.add(held.held(i), duration)
        return self._within(plain, simulator, *what)

    def _within(self, plain: Callable[..., Any], *what: Any) -> Any:
        self._inside += 1
        try:
            return plain(*what)
        finally:
            self._inside -= 1

    def load(self, plain: Callable[..., Any], *what: Any) -> Any:
        begin, self._depth = time.process_time(), self._depth + 1
        try:
            return plain(*what)
        finally:
            self._depth -= 1
            self.importing += 0.0 if self._depth else time.process_time() - begin


def here(
    function: Callable[..., Any], calls: Mapping[int, tuple[Any, ...]], *_: object
) -> Iterator[tuple[int, Any]]:
    """Do pieces in this process."""
    return ((i, function(*call)) for i, call in calls.items())


def counted(words: list[str]) -> Count:
    """Run a command in this process, and count."""
    count, pieces = Count(), importlib.import_module("roboaccord.run.pieces")
    loader: Any = importlib._bootstrap
    plain = {name: getattr(Simulator, name) for name in ("step", "predict")}
    with ExitStack() as stack:
        stack.enter_context(patch.object(pieces, "_run_here", here))
        load = partial(count.load, loader._find_and_load)
        stack.enter_context(patch.object(loader, "_find_and_load", load))
        for name, method in plain.items():
            own = getattr(count, name)
            changed = lambda simulator, *what, own=own, method=method: own(method, simulator, *what)  # noqa: E731
            stack.enter_context(patch.object(Simulator, name, changed))
        stack.enter_context(redirect_stdout(StringIO()))
        run(words)
    return count


def cpu_of(words: list[str]) -> float:
    """Return the CPU time of a command with its workers [s]."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    line = [sys.executable, "-c", "from roboaccord.cli.main import main; main()", *words]
    done = subprocess.run(
        line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False
    )
    if done.returncode > 1:  # 1 is a verdict
        sys.exit(done.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="figures as JSON on stdout")
    parser.add_argument("words", nargs=argparse.REMAINDER, help="a command of accord")
    options = parser.parse_args()
    started = time.process_time()  # what this module has imported
    total, count = cpu_of(options.words), counted(options.words)
    rows: list[dict[str, Any]] = [
        {"simulator": name, "step": step, "steps": each.steps, "cost": each.cost()}
        for (name, step), each in count.stepped.items()
    ]
    bare: float = sum(row["steps"] * row["cost"] for row in rows)
    processes = 1 + (cores() if len(rows) > 1 else 0)
    imports = processes * (started + count.importing)
    figures = {
        "total": total, "bare": bare, "imports": imports, "ours": total - bare - imports,
        "ratio": total / bare if bare else float("inf"), "simulators": rows,
    }  # fmt: skip
    if options.json:
        print(json.dumps(figures, indent=1))
        return
    for row in rows:
        name, share = f"{row['simulator']} at {1e3 * row['step']:g} ms", 1e6 * row["cost"]
        print(f"{name:28s}{row['steps']:9d} steps of {share:6.1f} us")
    words = ("total", "bare", "imports", "ours")
    print(", ".join(f"{name} {figures[name]:.1f} s" for name in words), end="; ")
    print(f"{figures['ratio']:.2f} times the bare steps" if bare else "no bare steps")


if __name__ == "__main__":
    main()
