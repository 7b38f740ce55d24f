"""Rows of the dynamics of a robot's file: RK4 steps of 1 ms without contact.

Peers are MuJoCo, pinocchio in a loop in C++, and code that was generated of pinocchio's algorithm
for the one robot (tree_loops.py). All take the same scheme from the same state, so their errors are
the same. The joints of a free robot start with rates: without, none would move in free fall.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import mujoco
import numpy as np
from benchmarks.speed.cpp import installed
from benchmarks.speed.rows import Pass, Row, rate, sized
from benchmarks.speed.tree_loops import Loop
from roboaccord.description.dynamics import TreeDynamics
from roboaccord.description.tree import Tree
from roboaccord.description.urdf_file import read_urdf

# s, and number: the usual step of simulators, and any number that takes a second.
STEP, STEPS = 1e-3, sized(20_000)
# Steps after which joints are to be no further apart [rad]; later chaos makes them grow.
AGREE, APART = 200, 1e-12
STARTED = 1.0  # rate of the joints of a free base at the start [rad/s]; any usual one would do
FILES = (("panda_description/urdf/panda.urdf", False), ("go2_description/urdf/go2.urdf", True))

Run = Callable[[int], np.ndarray]


def rows() -> Iterator[Row]:
    folder = collection()
    for name, free in FILES:
        if folder is None:
            print(f"no row of {name}: the collection of robots is not installed", file=sys.stderr)
            continue
        path = folder / "robots" / name
        ours, by_mujoco = runs(path, STEP, free=free)
        expected = ours(AGREE)
        check(expected, by_mujoco, f"MuJoCo's {path.stem}")
        peers: list[tuple[str, Pass | None]] = [
            (f"MuJoCo {mujoco.__version__}, RK4", timed(by_mujoco))
        ]
        for loop in loops(path, free=free):
            if loop.exists:
                check(expected, loop, f"{path.stem}, {loop.name}")
            peers.append((loop.name, passed(loop) if loop.exists else None))
        for peer_name, peer in peers:
            yield Row(
                f"RK4, {path.stem}, {'free' if free else 'fixed'} base", "steps/s", timed(ours),
                peer, peer_name,
            )  # fmt: skip


def check(expected: np.ndarray, peer: Run, name: str) -> None:
    """Raise SystemExit where a peer's joints are not ours."""
    apart = np.abs(expected - peer(AGREE)).max()
    if not apart < APART:
        raise SystemExit(f"{name}: our joints and the peer's are {apart:.1g} rad apart")


def loops(path: Path, *, free: bool) -> Iterator[Loop]:
    """Yield the loops in C++ on a file, by pinocchio's algorithm and by code generated of it."""
    urdf, joints = description(path)
    for generated in (False, True):
        yield Loop(urdf, path.stem, joints, STEP, STARTED * free, free=free, generated=generated)


def passed(loop: Loop) -> Pass:
    """Return a pass of a loop over all steps."""
    return lambda: loop.rate(STEPS)


def timed(run: Run) -> Pass:
    """Return a pass over all steps."""
    return lambda: rate(lambda: run(STEPS), STEPS)


def collection() -> Path | None:
    """Return the folder of example-robot-data, if it is installed."""
    return installed("share/example-robot-data")


def description(path: Path) -> tuple[str, tuple[str, ...]]:
    """Return the URDF of a file without shapes, and the names of its joints."""
    file = read_urdf(path)
    urdf, _ = file.rooted(file.stripped())
    return urdf, tuple(joint.name for joint in Tree.parse(urdf).moving)


def runs(path: Path, step: float, *, free: bool) -> tuple[Run, Run]:
    """Return our run and MuJoCo's: number of steps in, joint angles out."""
    urdf, joints = description(path)
    ours = TreeDynamics(Tree.parse(urdf), joints, "free" if free else "fixed", 9.81)
    model, data = mujoco_model(urdf, step, free=free)
    addresses = [model.joint(name).qposadr[0] for name in joints]
    rates = [model.joint(name).dofadr[0] for name in joints]
    start, none = np.zeros(13 + 2 * len(joints)), np.zeros(len(joints))
    start[6] = 1.0
    start[13 + len(joints) :] = STARTED * free

    def run_ours(count: int) -> np.ndarray:
        y = start.copy()
        ours.advance(y, none, step, count)
        return y[7 : 7 + len(joints)]

    def run_mujoco(count: int) -> np.ndarray:
        mujoco.mj_resetData(model, data)
        data.qvel[rates] = STARTED * free
        mujoco.mj_step(model, data, count)
        return np.array(data.qpos[addresses])

    return run_ours, run_mujoco


def mujoco_model(urdf: str, step: float, *, free: bool) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """Return MuJoCo's model with RK4, without contact, limits, damping and friction."""
    spec = mujoco.MjSpec.from_string(urdf)
    spec.compiler.fusestatic = not free
    if free:
        spec.worldbody.first_body().add_freejoint()
    model = spec.compile()
    model.dof_damping[:] = model.dof_frictionloss[:] = 0.0
    model.opt.timestep, model.opt.integrator = step, mujoco.mjtIntegrator.mjINT_RK4
    off = mujoco.mjtDisableBit
    model.opt.disableflags |= off.mjDSBL_CONTACT | off.mjDSBL_LIMIT | off.mjDSBL_EQUALITY
    return model, mujoco.MjData(model)
