"""Which errors `accord crosscheck LOG` names in logs of foreign simulators.

    make own-logs OWN_LOGS="--out ../own_logs.jsonl"
    make own-logs OWN_LOGS="--out ../draws.jsonl --draws 200"

The simulators are raw MuJoCo with an arm of three joints, and textbook equations of a planar arm
[Spong, Hutchinson and Vidyasagar 2006, 7.4] under a scheme written here. Each planted error is one
of the simulator or of its logging; the robot's file does not know it. Each is logged exactly, with
noise of the encoders, and with their steps. A line of the file holds a trial; a run that was ended
goes on from the file. The end prints a table. `--draws` logs five errors with that many draws of
noise each, and prints how many intervals hold the truth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from operator import attrgetter
from typing import Any

import numpy as np
from benchmarks.campaigns.rows import campaign_parser, keep, read
from roboaccord.contract import AccordError, Array
from roboaccord.contract.outcome import Cause
from roboaccord.crosscheck.report import Report
from roboaccord.description.tree import Tree
from roboaccord.report.cause_words import with_interval
from roboaccord_files.logs.body import LogBody
from roboaccord_files.logs.check import check_log
from roboaccord_files.logs.log import in_stretches

DURATION = 5.0  # s: some periods of the slowest sine of `wanted`, 1.9 rad/s
# rad: standard deviation, and steps of an encoder: 14 bits, 0.4 mrad.
NOISE, STEPS = 2e-4, 2.0 * np.pi / 2**14
SHOWN = 90  # characters of a text, to fit a line of the table
ENCODERS = ("exact", "noise", "steps")
DRAWN = ("mass of the last link", "centre of mass", "damping", "gear", "gravity")

ARM = """<robot name="arm"><link name="base_link"/>
<link name="turret"><inertial><origin xyz="0.01 0 0.1"/><mass value="2.0"/>
<inertia ixx="0.012" ixy="0" ixz="0" iyy="0.012" iyz="0" izz="0.006"/></inertial></link>
<link name="upper"><inertial><origin xyz="0.16 0.02 0.01"/><mass value="1.5"/>
<inertia ixx="0.002" ixy="0" ixz="0" iyy="0.013" iyz="0" izz="0.012"/></inertial></link>
<link name="fore"><inertial><origin xyz="0.13 0.01 -0.02"/><mass value="0.9"/>
<inertia ixx="0.004" ixy="0" ixz="0" iyy="0.007" iyz="0" izz="0.006"/></inertial></link>
<joint name="yaw" type="continuous"><parent link="base_link"/><child link="turret"/>
<axis xyz="0 0 1"/><dynamics damping="0.1"/></joint>
<joint name="lift" type="continuous"><parent link="turret"/><child link="upper"/>
<origin xyz="0.05 0 0.2"/><axis xyz="0 1 0"/><dynamics damping="0.08"/></joint>
<joint name="elbow" type="continuous"><parent link="upper"/><child link="fore"/>
<origin xyz="0.32 0 0"/><axis xyz="0 1 0"/><dynamics damping="0.05"/></joint></robot>"""
MJCF = """<mujoco><option timestep="{step}" integrator="{scheme}" gravity="{gx} 0 {g}"/><worldbody>
<body><joint name="yaw" axis="0 0 1" damping="0.1" frictionloss="{f1}"/>
<inertial pos="0.01 0 0.1" mass="2" diaginertia="0.012 0.012 0.006"/>
<body pos="0.05 0 0.2"><joint name="lift" axis="0 1 0" damping="{d2}" frictionloss="{f2}"/>
<inertial pos="{c2} 0.02 0.01" mass="{m2}" diaginertia="0.002 0.013 0.012"/>
<body pos="{l2} 0 0"><joint name="elbow" axis="{axis} 1 0" damping="{d3}" armature="{a3}" {more}/>
<inertial pos="{c3} 0.01 -0.02" mass="{m3}" diaginertia="0.004 {i3} 0.006"/>
</body></body></body></worldbody></mujoco>"""
# An arm of the size of a desktop robot, in SI units; the files ARM and PLANAR have the same
# numbers, and errors differ in one.
MUJOCO: dict[str, Any] = {
    "step": 1e-3, "scheme": "Euler", "gx": 0.0, "g": -9.81, "f1": 0.0, "f2": 0.0, "d2": 0.08,
    "c2": 0.16,
    "m2": 1.5, "l2": 0.32, "axis": 0.0, "d3": 0.05, "a3": 0.0, "m3": 0.9, "c3": 0.13, "i3": 0.007,
    "more": "",
}  # fmt: skip
PLANAR = """<robot name="planar"><link name="base_link"/>
<link name="one"><inertial><origin xyz="0 0 -0.2"/><mass value="1.2"/>
<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.016" iyz="0" izz="0.001"/></inertial></link>
<link name="two"><inertial><origin xyz="0 0 -0.15"/><mass value="0.7"/>
<inertia ixx="0.005" ixy="0" ixz="0" iyy="0.006" iyz="0" izz="0.001"/></inertial></link>
<joint name="hip" type="continuous"><parent link="base_link"/><child link="one"/>
<axis xyz="0 1 0"/><dynamics damping="0.03" friction="{dry}"/></joint>
<joint name="knee" type="continuous"><parent link="one"/><child link="two"/>
<origin xyz="0 0 -0.4"/><axis xyz="0 1 0"/><dynamics damping="0.02"/></joint></robot>"""
# A planar double pendulum of about the same size.
TEXTBOOK: dict[str, Any] = {
    "step": 1e-3, "scheme": "rk4", "m1": 1.2, "m2": 0.7, "l1": 0.4, "c1": 0.2, "c2": 0.15,
    "i1": 0.016,
    "i2": 0.006, "d1": 0.03, "d2": 0.02, "g": 9.81, "coriolis": 1.0, "dry": 0.0, "lag": 0.0,
}  # fmt: skip


@dataclass(frozen=True)
class Motion:
    """Hold a log before its encoders: stamps (k,), positions and efforts (k, n)."""

    time: Array
    q: Array
    effort: Array


@dataclass(frozen=True)
class Error:
    """Hold a planted error.

    Args:
        simulator: `mujoco` or `textbook`.
        changes: of its parameters.
        quantity, where, value: as a report is to name it; no quantity of a sound log.
        logging: what is done to the log.
        delay: steps by which efforts act late.
        gear: factors on the efforts, by joint.
        limit: of the second joint's effort [N m].
        assumed: whether the method knows errors of this kind.
    """

    simulator: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    quantity: str = ""
    where: str = ""
    value: float = np.nan
    logging: Callable[[Motion], Motion] = lambda motion: motion
    delay: int = 0
    gear: Sequence[float] = (1.0,)
    limit: float = np.inf
    assumed: bool = True


def _dropped(motion: Motion) -> Motion:
    """Leave out one row of twenty, and a third of a second."""
    kept = np.random.default_rng(5).random(len(motion.time)) > 0.05
    kept &= (motion.time < 2.0) | (motion.time > 2.3)
    return Motion(motion.time[kept], motion.q[kept], motion.effort[kept])


def _uneven(motion: Motion) -> Motion:
    """Sample positions at stamps that are up to half a period off, efforts as they are held."""
    rng, step = np.random.default_rng(6), motion.time[1]
    time = motion.time[2:-2] + rng.uniform(-0.4, 0.4, len(motion.time) - 4) * step
    from scipy.interpolate import CubicSpline

    held = np.searchsorted(motion.time, time, "right") - 1
    return Motion(time, CubicSpline(motion.time, motion.q)(time), motion.effort[held])


def _thin(many: int) -> Callable[[Motion], Motion]:
    return lambda m: Motion(m.time[::many], m.q[::many], m.effort[::many])


def _before(motion: Motion) -> Motion:
    """Log in each row the effort that has acted before it."""
    return Motion(motion.time[1:], motion.q[1:], motion.effort[:-1])


def _noisy_efforts(motion: Motion) -> Motion:
    rng = np.random.default_rng(7)
    size = 0.02 * motion.effort.std(axis=0)
    return Motion(motion.time, motion.q, motion.effort + size * rng.standard_normal(motion.q.shape))


# One of each kind that check.py tries, 5 to 30 % or what a workshop gets wrong (mm, mrad, ms).
YAW, LIFT, ELBOW = np.eye(3)  # of the rows of a log
REVERSED = 1.0 - 2.0 * ELBOW

ERRORS: dict[str, Error] = {
    "mass of a link": Error("mujoco", {"m2": 1.5 * 1.05}, "mass", "upper", 0.05),
    "mass of the last link": Error("mujoco", {"m3": 0.9 * 0.9}, "mass", "fore", -0.1),
    "centre of mass": Error("mujoco", {"c3": 0.14}, "centre", "fore", 0.01),
    "inertia": Error("mujoco", {"i3": 0.007 * 1.2}, "inertia", "fore", 0.2),
    "damping": Error("mujoco", {"d3": 0.09}, "damping", "elbow", 0.04),
    "dry friction": Error("mujoco", {"f2": 0.3}, "dry friction", "lift", 0.3),
    "rotor": Error("mujoco", {"a3": 0.004}, "armature", "elbow", 0.004),
    "gear": Error("mujoco", {}, "gear", "lift", -0.04, gear=(1.0, 0.96, 1.0)),
    "gravity": Error("mujoco", {"g": -9.6}, "gravity", "", 9.6 / 9.81 - 1.0),
    "gravity tilted": Error("mujoco", {"gx": 0.3}, "gravity direction", "", 0.3 / 9.81),
    "delay": Error("mujoco", {}, "delay", "", 3e-3, delay=3),
    "sign of an effort": Error(
        "mujoco", {}, "sign of effort", "elbow", -1.0,
        lambda m: replace(m, effort=m.effort * REVERSED),
    ),
    "sign of a joint": Error(
        "mujoco", {}, "sign of axis", "elbow", -1.0,
        lambda m: replace(m, q=m.q * REVERSED, effort=m.effort * REVERSED),
    ),
    "sign of a position": Error(
        "mujoco", {}, "sign of state", "elbow", -1.0, lambda m: replace(m, q=m.q * REVERSED)
    ),
    "joint axis": Error("mujoco", {"axis": np.tan(0.08)}, "axis", "elbow", -0.08),
    "joint origin": Error("mujoco", {"l2": 0.33}, "origin", "elbow", 0.01),
    "encoder's zero": Error(
        "mujoco", {}, "zero", "lift", 0.03, lambda m: replace(m, q=m.q + 0.03 * LIFT)
    ),
    "effort's zero": Error(
        "mujoco", {}, "effort offset", "yaw", -0.1,
        lambda m: replace(m, effort=m.effort + 0.1 * YAW),
    ),
    "efforts interchanged": Error(
        "mujoco", {}, "order of effort", "lift, elbow", -1.0,
        lambda m: replace(m, effort=m.effort[:, [0, 2, 1]]),
    ),
    "clock": Error("mujoco", {}, "clock", "", 0.02, lambda m: replace(m, time=1.02 * m.time)),
    "mass, textbook": Error("textbook", {"m2": 0.7 * 1.08}, "mass", "two", 0.08),
    "link's length": Error("textbook", {"l1": 0.41}, "origin", "knee", -0.01),
    "inertia, textbook": Error("textbook", {"i1": 0.016 * 1.3}, "inertia", "one", 0.3),
    "damping, textbook": Error("textbook", {"d1": 0.06}, "damping", "hip", 0.03),
    "gravity, textbook": Error("textbook", {"g": 10.0}, "gravity", "", 10.0 / 9.81 - 1.0),
    "mass, semi-implicit 2 ms": Error(
        "textbook", {"m1": 1.2 * 1.1, "scheme": "semi", "step": 2e-3}, "mass", "one", 0.1
    ),
    "mass, uneven stamps": Error("textbook", {"m2": 0.7 * 1.08}, "mass", "two", 0.08, _uneven),
    "gear, dropped rows": Error(
        "textbook", {}, "gear", "knee", 0.05, _dropped, gear=(1.0, 1.05)
    ),
    "damping, every tenth row": Error("textbook", {"d2": 0.05}, "damping", "knee", 0.03, _thin(10)),
    "wrong sign of Coriolis": Error("textbook", {"coriolis": -1.0}, "?", assumed=False),
    "motor of first order": Error("textbook", {"lag": 0.01}, "motor lag", "*", -1e-3 / np.log(0.9)),
    "effort limit": Error("mujoco", {}, "effort limit", "lift", 8.0, limit=8.0),
    "a spring": Error("mujoco", {"more": 'stiffness="1.5"'}, "spring", "elbow", 1.5),
}  # fmt: skip
# Steps of common simulators and 1 to 5 ms, and what loggers do to sound data.
SOUND: dict[str, Error] = {
    "semi-implicit 1 ms": Error("mujoco"),
    "semi-implicit 2 ms": Error("mujoco", {"step": 2e-3}),
    "RK4 2 ms": Error("mujoco", {"scheme": "RK4", "step": 2e-3}),
    "implicit 4 ms": Error("mujoco", {"scheme": "implicitfast", "step": 4e-3}),
    "efforts of the row before": Error("mujoco", {}, logging=_before),
    "textbook RK4": Error("textbook"),
    "forward Euler 1 ms": Error("textbook", {"scheme": "euler"}),
    "semi-implicit 5 ms": Error("textbook", {"scheme": "semi", "step": 5e-3}),
    "dropped rows": Error("textbook", {}, logging=_dropped),
    "uneven stamps": Error("textbook", {}, logging=_uneven),
    "every fifth row": Error("mujoco", {}, logging=_thin(5)),
    "dry friction in both": Error("textbook", {"dry": 0.1}),
    "noisy efforts": Error("textbook", {}, logging=_noisy_efforts),
}


def wanted(time: float, n: int, seed: int) -> Array:
    """Return a motion to follow (n,) [rad], another for each seed."""
    j, turn = np.arange(n), 2.4 * seed
    slow = (0.9 + 0.2 * j) * np.sin((1.9 + 0.7 * j + 0.2 * np.sin(turn)) * time + j + turn)
    return np.asarray(slow + 0.3 * np.sin((5.3 + 1.1 * j) * time + 2.0 * turn) - 0.4 * j)


def controlled(
    n: int, step: float, late: int, seed: int
) -> Callable[[int, Array, Array], tuple[Array, Array]]:
    """Return a PD controller: of row, positions and rates, its effort and what acts."""
    stiff, damped = np.array([15.0, 25.0, 8.0][-n:]), np.array([1.2, 2.0, 0.6][-n:])
    past: list[Array] = []

    def act(i: int, q: Array, qd: Array) -> tuple[Array, Array]:
        past.append(stiff * (wanted(i * step, n, seed) - q) - damped * qd)
        return past[-1], past[max(i - late, 0)]

    return act


def run_mujoco(error: Error, seed: int) -> Motion:
    """Log raw MuJoCo."""
    import mujoco

    p = MUJOCO | dict(error.changes)
    model = mujoco.MjModel.from_xml_string(MJCF.format(**p))
    data, step = mujoco.MjData(model), p["step"]
    data.qpos[:] = wanted(0.0, 3, seed)
    act, rows = controlled(3, step, error.delay, seed), []
    for i in range(round(DURATION / step)):
        effort, acting = act(i, data.qpos, data.qvel)
        rows.append((i * step, *data.qpos, *effort))
        acting = acting * np.array(error.gear)
        acting[1] = np.clip(acting[1], -error.limit, error.limit)
        data.qfrc_applied[:] = acting
        mujoco.mj_step(model, data)
    table = np.array(rows)
    return Motion(table[:, 0], table[:, 1:4], table[:, 4:])


def run_textbook(error: Error, seed: int) -> Motion:
    """Log the textbook's equations under a scheme."""
    p = TEXTBOOK | dict(error.changes)
    step, scheme = p["step"], p["scheme"]
    state, filtered = np.r_[wanted(0.0, 2, seed), 0.0, 0.0], np.zeros(2)
    act, rows = controlled(2, step, error.delay, seed), []
    for i in range(round(DURATION / step)):
        effort, acting = act(i, state[:2], state[2:])
        rows.append((i * step, *state[:2], *effort))
        if p["lag"]:
            filtered = filtered + (acting - filtered) * step / p["lag"]
            acting = filtered
        state = advanced(p, state, acting * np.array(error.gear), step, scheme)
    table = np.array(rows)
    return Motion(table[:, 0], table[:, 1:3], table[:, 3:])


def advanced(p: Mapping[str, Any], y: Array, effort: Array, h: float, scheme: str) -> Array:
    """Return the state (4,) after a step."""
    f = lambda y: np.r_[y[2:], acceleration(p, y[:2], y[2:], effort)]  # noqa: E731
    if scheme == "euler":
        return np.asarray(y + h * f(y))
    if scheme == "semi":
        rates = y[2:] + h * f(y)[2:]
        return np.asarray(np.r_[y[:2] + h * rates, rates])
    a = f(y)
    b = f(y + 0.5 * h * a)
    c = f(y + 0.5 * h * b)
    d = f(y + h * c)
    return np.asarray(y + h * (a + 2.0 * b + 2.0 * c + d) / 6.0)


def acceleration(p: Mapping[str, Any], q: Array, qd: Array, effort: Array) -> Array:
    """Return the accelerations of a planar arm that hangs (2,)."""
    a = p["m2"] * p["l1"] * p["c2"]
    i2 = p["i2"] + p["m2"] * p["c2"] ** 2
    i1 = p["i1"] + p["m1"] * p["c1"] ** 2 + p["m2"] * p["l1"] ** 2
    c, s = a * np.cos(q[1]), p["coriolis"] * a * np.sin(q[1])
    mass = np.array([[i1 + i2 + 2.0 * c, i2 + c], [i2 + c, i2]])
    turning = np.array([-s * qd[1] * (2.0 * qd[0] + qd[1]), s * qd[0] ** 2])
    lower = p["m2"] * p["c2"] * np.sin(q[0] + q[1])
    upper = (p["m1"] * p["c1"] + p["m2"] * p["l1"]) * np.sin(q[0])
    falling = p["g"] * np.array([upper + lower, lower])
    braking = np.array([p["d1"] + p["dry"] / np.hypot(qd[0], 0.01), p["d2"]]) * qd
    return np.linalg.solve(mass, effort - turning - falling - braking)


RUNS = {"mujoco": run_mujoco, "textbook": run_textbook}


@cache
def logged(name: str, seed: int) -> Motion:
    """Log a simulator with an error."""
    error = {**ERRORS, **SOUND}[name]
    return error.logging(RUNS[error.simulator](error, seed))


def checked(name: str, encoder: str, seed: int = 0, draw: int = 0) -> Report:
    """Check a log of a simulator with an error, by seeds of motion and noise."""
    error, motion = {**ERRORS, **SOUND}[name], logged(name, seed)
    q = motion.q
    if encoder == "noise":
        q = q + NOISE * np.random.default_rng(draw).standard_normal(q.shape)
    elif encoder == "steps":
        q = STEPS * np.round(q / STEPS)
    dry = error.changes.get("dry", 0.0)
    tree = Tree.parse(ARM if error.simulator == "mujoco" else PLANAR.format(dry=dry))
    joints = tuple(joint.name for joint in tree.moving)
    log = in_stretches(joints, motion.time, q, motion.effort)
    return check_log(log, LogBody.of(tree, joints, 9.81))


@dataclass(frozen=True)
class Row:
    """Hold a trial: what was found, and whether name and interval are right.

    Named is what is the cause, or one of so many that cannot be distinguished.
    """

    error: str
    encoder: str
    verdict: str
    named: bool
    held: bool
    alike: int
    text: str
    draw: int = 0


shown = attrgetter("encoder", "error", "verdict", "named", "held", "alike", "text")


def _key(cause: Cause) -> tuple[str, str]:
    return cause.quantity, cause.where


def carry_out(name: str, encoder: str, seed: int = 0, draw: int = 0) -> Row:
    """Make a trial, of a motion and a draw of noise."""
    error = {**ERRORS, **SOUND}[name]
    try:
        found = checked(name, encoder, seed, draw)
    except AccordError as problem:
        return Row(name, encoder, "refused", False, False, 0, str(problem), draw)
    explanation = found.step.explanation
    either = (explanation.causes, *explanation.instead)
    alone = [causes for causes in either if len({*map(_key, causes)}) == 1]
    own = [c for each in alone for c in each if _key(c) == (error.quantity, error.where)]
    cause = max(own, key=lambda each: abs(each.size or 0.0), default=None)
    named = cause is not None
    low, high = cause.interval or (-1.0, -1.0) if cause else (np.nan, np.nan)
    held = bool(low <= error.value <= high)
    text = "; ".join(map(with_interval, explanation.causes))
    text = text or found.levels.one_step["log"].reason
    alike = len(explanation.instead)
    return Row(name, encoder, found.verdict or "", named, held, alike, text, draw)


def table(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the lines of a table in Markdown, and the sums."""
    yield "| log | truth | " + " | ".join(ENCODERS) + " |"
    yield "|---|---|" + "---|" * len(ENCODERS)
    by = {(row.error, row.encoder): row for row in rows}
    for name, error in {**ERRORS, **SOUND}.items():
        cells = [by.get((name, encoder)) for encoder in ENCODERS]
        truth = "not known" if error.quantity == "?" else "sound"
        if error.value == error.value:
            truth = " ".join(filter(None, [error.quantity, error.where, f"{error.value:+.4g}"]))
        yield f"| {name} | {truth} | " + " | ".join(map(_cell, cells)) + " |"
    planted = [r for r in rows if r.error in ERRORS and ERRORS[r.error].assumed]
    sound = [r for r in rows if r.error in SOUND]
    yield ""
    yield (
        f"{len(planted)} logs with a known error: {sum(r.verdict == 'fail' for r in planted)} "
        f"found, {sum(r.named for r in planted)} named right, {sum(r.held for r in planted)} "
        f"intervals hold the truth; {len(sound)} sound logs: "
        f"{sum(r.verdict == 'fail' for r in sound)} accused, "
        f"{sum(r.verdict == 'undecided' for r in sound)} not judged"
    )


def coverage(rows: Sequence[Row]) -> Iterator[str]:
    """Yield how many intervals hold the truth, of draws in which the error is named."""
    for name, errors in [*((each, (each,)) for each in DRAWN), ("all", DRAWN)]:
        every = [row for row in rows if row.error in errors]
        own = [row for row in every if row.named]
        held = sum(row.held for row in own)
        share = 100.0 * held / max(len(own), 1)
        yield f"{name}: {len(own)} of {len(every)} named, {held} intervals hold ({share:.1f} %)"


def _cell(row: Row | None) -> str:
    if row is None:
        return ""
    if not row.named:
        return " ".join(filter(None, [row.verdict, row.text[:SHOWN].replace("|", "/")]))
    more = f", or {row.alike} more" if row.alike else ""
    return f"{row.text[:SHOWN]}{more}{'' if row.held else ' MISSES'}"


def main() -> None:
    """Make the trials that are not in the file yet, then print the table."""
    parser = campaign_parser(__doc__)
    parser.add_argument("--only", default="", help="word that the trial's name holds")
    parser.add_argument("--seed", type=int, default=0, help="of motion and noise; a file each")
    parser.add_argument("--draws", type=int, default=0, help="draws of noise of five errors")
    asked = parser.parse_args()
    done = read(asked.out, Row)
    known = {(row.error, row.encoder, row.draw) for row in done}
    trials = [(name, e, asked.seed) for e in ENCODERS for name in (*ERRORS, *SOUND)]
    if asked.draws:
        trials = [(name, "noise", draw) for draw in range(asked.draws) for name in DRAWN]
    left = [each for each in trials if asked.only in each[0] and each not in known]
    for row in keep(asked.out, (carry_out(*each[:2], asked.seed, each[2]) for each in left)):
        done.append(row)
        print(*shown(row), flush=True)
    print(*(coverage(done) if asked.draws else table(done)), sep="\n")


if __name__ == "__main__":
    main()
