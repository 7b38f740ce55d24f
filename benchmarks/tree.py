"""Time one RK4 step of a robot's file in our kernel and in MuJoCo, on one core, without contact.

    taskset -c 1 python benchmarks/tree.py panda.urdf
    taskset -c 1 python benchmarks/tree.py go2.urdf --base free

Both take the same scheme and step from the same state, so their errors are the same; the largest
difference of a joint after 0.2 s is printed with the times.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import mujoco
import numpy as np
from roboaccord.description.dynamics import TreeDynamics
from roboaccord.description.tree import Tree
from roboaccord.description.urdf_file import read_urdf

STEP, AGREE = 1e-3, 200


def main() -> None:
    """Build both models, compare them, and print the median of some rounds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--base", choices=("fixed", "free"), default="fixed")
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    file = read_urdf(options.file)
    urdf, _ = file.rooted(file.stripped())
    tree = Tree.parse(urdf)
    joints = tuple(joint.name for joint in tree.moving)
    ours = TreeDynamics(tree, joints, options.base, 9.81)
    model, data = mujoco_model(urdf, free=options.base == "free")
    start, none = np.zeros(13 + 2 * len(joints)), np.zeros(len(joints))
    start[6] = 1.0

    def run_ours(count: int) -> np.ndarray:
        y = start.copy()
        ours.advance(y, none, STEP, count)
        return y[7 : 7 + len(joints)]

    def run_mujoco(count: int) -> np.ndarray:
        mujoco.mj_resetData(model, data)
        mujoco.mj_step(model, data, count)
        return data.qpos[[model.joint(name).qposadr[0] for name in joints]]

    apart = np.abs(run_ours(AGREE) - run_mujoco(AGREE)).max()
    times = [median(run, options.steps, options.rounds) for run in (run_ours, run_mujoco)]
    print(
        f"{len(joints)} joints: {times[0]:.2f} us, MuJoCo {mujoco.__version__} {times[1]:.2f} us, "
        f"{times[1] / times[0]:.2f} times as fast; apart by {apart:.1g}"
    )


def mujoco_model(urdf: str, *, free: bool) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """Return MuJoCo's model with RK4, without contact, limits, damping and friction."""
    spec = mujoco.MjSpec.from_string(urdf)
    spec.compiler.fusestatic = not free
    if free:
        spec.worldbody.first_body().add_freejoint()
    model = spec.compile()
    model.dof_damping[:] = model.dof_frictionloss[:] = 0.0
    model.opt.timestep, model.opt.integrator = STEP, mujoco.mjtIntegrator.mjINT_RK4
    off = mujoco.mjtDisableBit
    model.opt.disableflags |= off.mjDSBL_CONTACT | off.mjDSBL_LIMIT | off.mjDSBL_EQUALITY
    return model, mujoco.MjData(model)


def median(run: Callable[[int], np.ndarray], steps: int, rounds: int) -> float:
    """Return the median processor time of a step [us]."""
    found = []
    for _ in range(rounds):
        began = time.process_time()
        run(steps)
        found.append((time.process_time() - began) / steps * 1e6)
    return float(np.median(found))


if __name__ == "__main__":
    main()
