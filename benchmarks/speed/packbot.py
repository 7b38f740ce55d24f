"""Rows of the Packbot: distances of its hulls, and its collapse.

Their peer in C++, pinocchio and coal in a loop of their own, is compiled against the headers of
their wheels: distances of the same pairs at the same poses, and for the collapse a fall without
contact, semi-implicit Euler of 1 ms with the distances of all pairs in every step, which is the
least that a simulator must do. MuJoCo runs the same collapse with its own contacts, at 1 ms.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path

import coal
import mujoco
import numpy as np
from benchmarks.speed.cpp import BUILD, compiled
from benchmarks.speed.rows import Pass, Row, rate, sized
from benchmarks.speed.tree_loops import include
from packbot.contact.clearance import TOLERANCE, Clearance
from packbot.planning.sight import Sight
from roboaccord.contract.state import Command
from roboaccord.run.loop import make_simulator
from roboaccord.scenario import Setup, load_scenario

SOURCE = Path(__file__).with_name("packbot_loop.cpp")
LIBRARIES = ("pinocchio_default", "pinocchio_parsers", "pinocchio_collision", "coal")
OPTIONS = (
    "-O1", "-DPINOCCHIO_WITH_COLLISION", "-DPINOCCHIO_WITH_URDFDOM",
    "-DPINOCCHIO_ENABLE_TEMPLATE_INSTANTIATION",
)  # fmt: skip
# Any number that takes a second would do; the shoulder and both elbows move the arm in its plane.
POSES, ACTIVE = sized(1000), 3
STEP = 2e-3  # rad, of each joint between two poses on a path, 0.1 degrees
LOOP = f"pinocchio {version('pin')} and coal {coal.__version__}, a loop in C++"


def rows() -> Iterator[Row]:
    setup = Setup.of(load_scenario("packbot", "packbot", "collapse"))
    clearance = Clearance.of(setup)
    model, rng = clearance.model, np.random.default_rng(0)
    poses = rng.uniform(model.lowerPositionLimit, model.upperPositionLimit, (POSES, 7))
    path = setup.initial.q + np.cumsum(rng.choice([-STEP, STEP], (POSES, 7)), axis=0)
    active = rng.choice(len(clearance.pairs), (POSES, ACTIVE))
    loop, why = build(setup, clearance, poses)
    pairs = len(clearance.pairs)

    def each(ask: Callable[..., object], *given: np.ndarray) -> Pass:
        return lambda: rate(lambda: [ask(*row) for row in zip(*given, strict=True)], POSES)

    total = np.sum([clearance.distances(q) for q in poses])
    yield Row(
        f"Packbot, distances of all {pairs} pairs", "poses/s", each(clearance.distances, poses),
        (lambda: run_loop(loop, "distances", POSES, total)) if loop else None, why or LOOP,
        target_ratio=1 / 1.2,
    )  # fmt: skip
    targets = rng.uniform(-1.5, 1.5, (POSES, 3))
    for name, ask, given in (
        ("whether any pair touches", clearance.touches, (poses,)),
        ("pairs nearer than 5 mm, on a path", lambda q: clearance.near(q, 5e-3), (path,)),
        (f"points, normals, slopes of {ACTIVE} pairs", clearance.witness, (poses, active)),
        ("whether the camera sees a target", Sight(clearance).look, (poses, targets)),
    ):
        yield Row(f"Packbot, {name}", "poses/s", each(ask, *given), None, "no peer of this kind")
    duration = setup.scenario.duration
    steps = round(duration / setup.scenario.physics_step)
    peers: list[tuple[str, Pass | None]] = [
        (f"MuJoCo {mujoco.__version__}", lambda: collapse(setup, "mujoco")),
        (why or LOOP + ", no contact",
         (lambda: run_loop(loop, "fall", steps) / steps * duration) if loop else None),
    ]  # fmt: skip
    for name, peer in peers:
        yield Row(
            "Packbot, collapse", "x real time", lambda: collapse(setup, "reference"), peer, name,
            target=3.0,
        )  # fmt: skip


def collapse(setup: Setup, engine: str) -> float:
    """Simulate the scenario; return simulated over processor time."""
    simulator = make_simulator(setup, engine)
    simulator.reset(setup.initial)
    command, period = Command(effort=np.zeros(len(setup.joints))), setup.scenario.control_period
    ticks = round(setup.scenario.duration / period)
    return rate(lambda: [simulator.step(command, period) for _ in range(ticks)], ticks * period)


def build(setup: Setup, clearance: Clearance, poses: np.ndarray) -> tuple[list[str] | None, str]:
    """Compile the loop and write what it reads; return its command, or why there is none."""
    headers, libraries = include(), Path(coal.__file__).parents[4] / "lib"
    if not headers:
        return None, "headers of Eigen or pinocchio are not installed"
    linked = [libraries / f"lib{name}.so" for name in LIBRARIES]
    program, why = compiled(SOURCE, OPTIONS, headers, linked)
    if program is None:
        return None, why
    files = [BUILD / name for name in ("arm.urdf", "hulls.txt", "poses.txt")]
    files[0].write_text(setup.urdf(base="fixed"))
    files[1].write_text(hulls_text(clearance))
    damping = setup.parameters.of_joints("viscous")[0]
    step = setup.scenario.physics_step
    numbers = [TOLERANCE, damping, step, round(setup.scenario.duration / step), len(poses)]
    lines = [" ".join(map(repr, map(float, row))) for row in poses]
    files[2].write_text(" ".join(map(str, numbers)) + "\n" + "\n".join(lines) + "\n")
    return [str(program), *map(str, files)], ""


def hulls_text(clearance: Clearance) -> str:
    """Return hulls and pairs as the loop reads them."""
    geometry = clearance._geometry
    lines = [f"{len(geometry.geometryObjects)} {len(clearance.pairs)}"]
    for thing, hull in zip(geometry.geometryObjects, clearance.hulls, strict=True):
        lines.append(f"{thing.name} {thing.parentJoint} {len(hull.vertices)} {len(hull.faces)}")
        place = thing.placement
        numbers = map(np.ravel, (place.rotation, place.translation, hull.vertices))
        lines.append(" ".join(map(repr, np.concatenate([*numbers]).tolist())))
        lines.append(" ".join(map(str, hull.faces.ravel().tolist())))
    return "\n".join([*lines, *(f"{a} {b}" for a, b in clearance.pairs)]) + "\n"


def run_loop(loop: list[str], what: str, count: int, expected: float | None = None) -> float:
    """Run the loop; return `count` over its processor time.

    Raises:
        SystemExit: if its distances are not ours.
    """
    done = subprocess.run([*loop, what], capture_output=True, text=True, check=True)
    took, found = map(float, done.stdout.split())
    if expected is not None and abs(found - expected) > 1e-6 * abs(expected):
        raise SystemExit(f"the distances of the loop in C++ sum to {found}, ours to {expected}")
    return count / took
