"""Rows of the dynamics of a robot's file: RK4 steps of 1 ms without contact, beside MuJoCo's.

Both take the same scheme from the same state, so their errors are the same.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import mujoco
import numpy as np
from benchmarks.speed.rows import Pass, Row, rate, sized
from roboaccord.description.dynamics import TreeDynamics
from roboaccord.description.tree import Tree
from roboaccord.description.urdf_file import read_urdf

# s, and number: the usual step of simulators, and any number that takes a second.
STEP, STEPS = 1e-3, sized(20_000)
# Steps after which joints are to be no further apart [rad]; later chaos makes them grow.
AGREE, APART = 200, 1e-12
FILES = (("panda_description/urdf/panda.urdf", False), ("go2_description/urdf/go2.urdf", True))

Run = Callable[[int], np.ndarray]


def rows() -> Iterator[Row]:
    folder = collection()
    for name, free in FILES:
        if folder is None:
            print(f"no row of {name}: the collection of robots is not installed", file=sys.stderr)
            continue
        ours, peer = runs(folder / "robots" / name, STEP, free=free)
        apart = np.abs(ours(AGREE) - peer(AGREE)).max()
        if not apart < APART:
            raise SystemExit(f"{name}: our joints and MuJoCo's are {apart:.1g} rad apart")
        yield Row(
            f"RK4, {Path(name).stem}, {'free' if free else 'fixed'} base", "steps/s",
            timed(ours),
            timed(peer),
            f"MuJoCo {mujoco.__version__}, RK4",
        )  # fmt: skip


def timed(run: Run) -> Pass:
    """Return a pass over all steps."""
    return lambda: rate(lambda: run(STEPS), STEPS)


def collection() -> Path | None:
    """Return the folder of example-robot-data, if it is installed."""
    where = "lib/python*/site-packages/cmeel.prefix/share/example-robot-data"
    return next(Path(sys.prefix).glob(where), None)


def runs(path: Path, step: float, *, free: bool) -> tuple[Run, Run]:
    """Return our run and MuJoCo's: steps from rest in, joint angles out."""
    file = read_urdf(path)
    urdf, _ = file.rooted(file.stripped())
    tree = Tree.parse(urdf)
    joints = tuple(joint.name for joint in tree.moving)
    ours = TreeDynamics(tree, joints, "free" if free else "fixed", 9.81)
    model, data = mujoco_model(urdf, step, free=free)
    addresses = [model.joint(name).qposadr[0] for name in joints]
    start, none = np.zeros(13 + 2 * len(joints)), np.zeros(len(joints))
    start[6] = 1.0

    def run_ours(count: int) -> np.ndarray:
        y = start.copy()
        ours.advance(y, none, step, count)
        return y[7 : 7 + len(joints)]

    def run_mujoco(count: int) -> np.ndarray:
        mujoco.mj_resetData(model, data)
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
