"""What each setting of an engine makes of every problem with contact: the table of its expert's.

    make settings SETTINGS="--out ../settings.jsonl"

One setting of an engine is to hold for all problems. Each line of the file holds a problem, an
engine with its options, the figure that it comes to and the seconds that it took; a run that was
ended goes on from the file. Seeds are fixed, so that the figures are the same every time.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from benchmarks.campaigns.rows import campaign_parser, keep, read
from joblib import Parallel, delayed
from roboaccord import find_robot, load_scenario
from roboaccord.contract import AccordError, Command, Contact, Fixture, Json, RobotState, Trajectory
from roboaccord.engines import EngineModel, EngineSimulator, simulate_model
from roboaccord.numerics.rotations import yaw_quaternion
from roboaccord.run.loop import make_simulator, run_setup
from roboaccord.scenario.setup import Setup
from roboaccord_studies.roller_sphere.contact import ContactCase, compare
from roller_sphere.model.hold import held_time_and_offset

Options = Mapping[str, Json]
# Each choice of the engines' settings beside the defaults, alone and in pairs that matter.
SETTINGS: Mapping[str, list[Options]] = {
    "dart": [
        {"friction_solver": "dantzig", "split_impulse": False},
        {"friction_solver": "nsgs", "split_impulse": False},
        {"friction_solver": "fbf", "split_impulse": False},
        {"friction_solver": "dantzig", "split_impulse": True},
        {"friction_solver": "nsgs", "split_impulse": True},
        {"friction_solver": "fbf", "split_impulse": True},
        {"friction_solver": "nsgs", "friction_iterations": 1000},
        {"friction_solver": "fbf", "friction_iterations": 1000},
        {"friction_solver": "nsgs", "friction_iterations": 1000, "split_impulse": True},
    ],
    "mujoco": [
        {"cone": "elliptic", "impratio": 10.0},
        {"cone": "elliptic", "impratio": 1.0},
        {"cone": "elliptic", "impratio": 100.0},
        {"cone": "pyramidal", "impratio": 1.0},
        {"cone": "pyramidal", "impratio": 10.0},
        {"cone": "elliptic", "impratio": 10.0, "integrator": "implicit"},
        {"cone": "elliptic", "impratio": 1.0, "integrator": "implicit"},
        {"cone": "elliptic", "impratio": 10.0, "integrator": "discrete"},
        {"cone": "elliptic", "impratio": 10.0, "diagexact": True},
        {"cone": "elliptic", "impratio": 10.0, "integrator": "discrete", "diagexact": True},
        {"cone": "elliptic", "impratio": 10.0, "integrator": "rk4"},
        {"cone": "elliptic", "impratio": 1.0, "contact_time": 0.02},
        {"cone": "elliptic", "impratio": 10.0, "contact_time": 0.02},
        {"cone": "elliptic", "impratio": 10.0, "contact_time": 0.0, "contact_damping": 1.0},
        {"cone": "elliptic", "impratio": 10.0, "contact_time": 0.0, "contact_damping": 3.0},
    ],
}
"""MuJoCo's first is that of the workspace; the time constant of 0.02 s is MuJoCo's own default."""
# Of the sliding box; usual friction, standard gravity, and 0.13 m until it rests.
MU, G, SPEED = 0.4, 9.81, 1.0
# Times the mass of the box below, as the hardest ratio of common tests of contact solvers.
HEAVY = 100.0
# Ten, for a spread.
SEEDS = range(10)
_INERTIAL = (
    '<inertial><mass value="{mass}"/><inertia ixx="{turn}" iyy="{turn}" izz="{turn}" ixy="0" '
    'ixz="0" iyz="0"/></inertial>'
)
_LINK = (
    f'<link name="{{name}}">{_INERTIAL}<collision><geometry><box size="0.2 0.2 0.1"/></geometry>'
    "</collision></link>"
)


@dataclass(frozen=True)
class Found:
    """Hold what a setting of an engine makes of a problem.

    Args:
        problem, engine, options: which.
        figure: of the problem; None where the engine refuses it.
        seconds: of the processor's time.
        reason: of a refusal.
    """

    problem: str
    engine: str
    options: Options
    figure: float | None
    seconds: float
    reason: str = ""


def boxes(engine: str, options: Options, *, stacked: bool) -> EngineSimulator:
    """Return a box on the ground, with another on top of it that can go up and down alone."""
    links = [_LINK.format(name="base_link", mass=1.0, turn=0.004)]
    joints, pairs, names = ["slide"] if stacked else [], [("base_link", "ground")], ["base_link"]
    if stacked:
        links.append(_LINK.format(name="top_link", mass=HEAVY, turn=0.004 * HEAVY))
        links.append(
            '<joint name="slide" type="prismatic"><parent link="base_link"/><child '
            'link="top_link"/><origin xyz="0 0 0.1"/><axis xyz="0 0 1"/><limit lower="-1" '
            'upper="1" effort="0" velocity="9"/></joint>'
        )
        pairs.append(("base_link", "top_link"))
        names.append("top_link")
    ground = Fixture(name="ground", size=np.array([9.0, 9.0, 1.0]), position=np.array([0, 0, -0.5]))
    contact = Contact(
        pairs=tuple(pairs), friction=dict.fromkeys([*names, "ground"], MU), fixtures=(ground,)
    )
    model = EngineModel(
        urdf=f'<robot name="boxes">{"".join(links)}</robot>', base="free", joints=tuple(joints),
        effort_limits=np.zeros(len(joints)), physics_step=1e-3, gravity=G, contact=contact,
        options={engine: options},
    )  # fmt: skip
    return simulate_model(model, engine)


def start(simulator: EngineSimulator, angle: float, speed: float) -> None:
    """Let boxes lie on the ground, and go at an angle to the world's x axis."""
    rest = np.zeros(len(simulator.joints))
    twist = np.array([speed, 0.0, 0.0, 0.0, 0.0, 0.0])
    at = np.array([0.0, 0.0, 0.05])
    simulator.reset(RobotState(0.0, rest, rest, rest, at, yaw_quaternion(angle), twist))


def slide(engine: str, options: Options) -> float:
    """Return how much further or less far a box slides than v^2 / (2 mu g), of three directions."""
    expected, errors = 0.5 * SPEED**2 / (MU * G), []
    for angle in (0.0, math.pi / 8, math.pi / 4):
        simulator = boxes(engine, options, stacked=False)
        start(simulator, angle, SPEED)
        end = simulator.step(Command(np.zeros(0)), 0.4)
        errors.append(100.0 * (math.hypot(*end.position[:2]) / expected - 1.0))
    return max(errors, key=abs)


def rest(engine: str, options: Options) -> float:
    """Return how far a box alone has sunk after 2 s [mm]."""
    simulator = boxes(engine, options, stacked=False)
    start(simulator, 0.0, 0.0)
    return 1e3 * float(0.05 - simulator.step(Command(np.zeros(0)), 2.0).position[2])


def stack(engine: str, options: Options) -> float:
    """Return how far the upper of two boxes has sunk after 2 s [mm]."""
    simulator = boxes(engine, options, stacked=True)
    start(simulator, 0.0, 0.0)
    end = simulator.step(Command(np.zeros(1)), 2.0)
    return 1e3 * float(0.05 - end.position[2] - end.q[0])


def scenario(robot: str, name: str, engine: str, options: Options, *changes: str) -> Setup:
    """Return a scenario with options of an engine."""
    own = [f"engine_options.{engine}.{key}={json.dumps(value)}" for key, value in options.items()]
    return Setup.of(load_scenario(find_robot(robot).package, robot, name, [*changes, *own]))


def run(setup: Setup, engine: str) -> Trajectory:
    """Return a run."""
    return run_setup(setup, make_simulator(setup, engine))


def collapse(engine: str, options: Options) -> float:
    """Return by how much angles of the arm differ from the reference's in 1 s at most [rad]."""
    setup = scenario("packbot", "collapse", engine, options, "duration=1.0")
    return float(np.abs(run(setup, engine).q - run(setup, "reference").q).max())


def bowl(engine: str, options: Options) -> float:
    """Return how far the ball in a bowl is from the reference's at most, over 4 s [mm]."""
    setup = scenario("voxel_sphere", "bowl", engine, options)
    apart = run(setup, engine).position - run(setup, "reference").position
    return 1e3 * float(np.linalg.norm(apart, axis=1).max())


def rig(engine: str, options: Options, *, aligned: bool) -> float:
    """Return by how much the ball's turning between rollers at 20 degrees is off at most [%]."""
    angle = math.radians(20.0)
    changes = [f"parameters.alpha_1={angle}", f"parameters.alpha_2={-angle}"]
    changes.append("friction={law: contact}")
    if not aligned and engine == "dart":
        changes.append("engine_options.dart.z_axis=[0, 0, 1]")
    setup = scenario("roller_sphere", "headings", engine, options, *changes)
    case = ContactCase(engine, "contact", "", 20.0)
    return 100.0 * compare(case, setup, run(setup, engine)).w_t_worst


def largest_offset(engine: str, options: Options) -> float:
    """Return the median over the starts of how far a dribbled ball leaves its place [mm]."""
    found = []
    for seed in SEEDS:
        changes = f"seed={seed}", "duration=4"
        setup = scenario("roller_sphere", "dribble", engine, options, *changes)
        found.append(1e3 * held_time_and_offset(setup.parameters, run(setup, engine))[1])
    return float(np.median(found))


def dribble(engine: str, options: Options) -> float:
    """Return by how much that is off from the reference's [mm]."""
    return largest_offset(engine, options) - largest_offset("reference", {})


PROBLEMS: Mapping[str, Callable[[str, Options], float]] = {
    "box [%]": slide,
    "rest [mm]": rest,
    "stack [mm]": stack,
    "collapse [rad]": collapse,
    "bowl [mm]": bowl,
    "rig, z up [%]": partial(rig, aligned=False),
    "rig, z along e [%]": partial(rig, aligned=True),
    "dribble [mm]": dribble,
}


def solve(problem: str, engine: str, options: Options) -> Found:
    """Return what a setting makes of a problem."""
    before = time.process_time()
    try:
        figure, reason = PROBLEMS[problem](engine, options), ""
    except AccordError as error:
        figure, reason = None, str(error)
    return Found(problem, engine, options, figure, time.process_time() - before, reason)


def table(found: list[Found]) -> str:
    """Return the figures as a table, a row for each setting."""
    by = {(f.engine, json.dumps(f.options), f.problem): f for f in found}
    lines = ["| engine | setting | " + " | ".join(PROBLEMS) + " | CPU [s] |"]
    lines.append("|---" * (len(PROBLEMS) + 3) + "|")
    for engine, every in SETTINGS.items():
        for options in every:
            own = [by.get((engine, json.dumps(options), problem)) for problem in PROBLEMS]
            cells = ["" if f is None or f.figure is None else f"{f.figure:.3g}" for f in own]
            words = ", ".join(f"{key} {json.dumps(value)}" for key, value in options.items())
            words = words.replace('"', "")
            spent = sum(f.seconds for f in own if f)
            lines.append(f"| {engine} | {words} | " + " | ".join(cells) + f" | {spent:.0f} |")
    return "\n".join(lines)


def main() -> None:
    """Run what is not in the file yet, and print the table."""
    parser = campaign_parser(__doc__)
    parser.add_argument("--jobs", type=int, default=2, help="problems at a time")
    asked = parser.parse_args()
    found = read(asked.out, Found)
    known = {(f.problem, f.engine, json.dumps(f.options)) for f in found}
    jobs = [
        (problem, engine, options)
        for problem in PROBLEMS
        for engine, every in SETTINGS.items()
        for options in every
        if (problem, engine, json.dumps(options)) not in known
    ]
    work = (delayed(solve)(*job) for job in jobs)
    found += keep(asked.out, Parallel(n_jobs=asked.jobs, return_as="generator_unordered")(work))
    print(table(found))


if __name__ == "__main__":
    main()
