"""AcroMonk's equations fitted to its logs, and each run predicted from what the others have taught.

    python examples/acromonk/predict.py

Both arms are alike but for their masses: arm A holds in the first swing, arm B in the next. With
total mass m, and first and second moments about the elbow, a and J, of the arm that holds (h) and
of the one that swings (s), the equations of the authors read (l from hook to elbow)

    M11 = Jh - 2 l ah + m l^2 + Js + 2 l as cos e,   M12 = Js + l as cos e,   M22 = Js + rotor.

The state is fitted to the last 50 ms of positions, and carried 0.1 s ahead under recorded torques.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

RUNS = Path(__file__).parent / "logs"
LENGTH, GRAVITY = 0.314, 9.81  # m, by the robot's file; m/s^2
STEP, BEFORE, BEHIND = 0.005, 10, 20  # s, and steps of a window before and after now
PAST, AHEAD = BEFORE * STEP, BEHIND * STEP
RELEASE, CATCH = 0.25, 0.4  # s that are cut off a swing
MOVES, REST, JUMP, GAP = 0.02, 0.06, 0.3, 0.05  # rad, s, rad, s
FEW = 8  # steps by which rates are guessed
SPEED = 0.05  # rad/s, below which dry friction falls to 0
NOISE = np.array([0.004, 0.01])  # rad: weights of shoulder and elbow
FIRST = {  # of the robot's file; moments about the elbow, of arm A with the motor and of arm B
    "m": 1.640, "a_A": 0.0839, "a_B": 0.0738, "J_A": 0.0085, "J_B": 0.0132, "rotor": 0.0,
    "viscous": 0.0, "dry": 0.0, "hook": 0.0, "torque": 0.0, "zero_A": 0.0, "zero_B": 0.0,
    "elbow": 0.0,
}  # fmt: skip
Array = Any


class Windows(NamedTuple):
    """Hold windows: positions (w, k + 1, 2), torques (w, k), and whether arm B holds (w,)."""

    q: Array
    torque: Array
    b_holds: Array


def swings(time: Array, q: Array) -> list[tuple[float, float]]:
    """Return start and end of each swing: between rests, jumps to the other arm, and gaps."""
    near = [np.abs(time - t) < REST for t in time]
    rests = np.array([np.ptp(q[each], axis=0).max() < MOVES for each in near])
    breaks = np.flatnonzero((np.abs(np.diff(q[:, 0])) > JUMP) | (np.diff(time) > GAP))
    rests[breaks] = rests[breaks + 1] = True
    ends = np.flatnonzero(np.diff(np.r_[True, rests, True].astype(int)))
    pairs = [(time[a], time[b - 1]) for a, b in ends.reshape(-1, 2)]
    return [(a + RELEASE, b - CATCH) for a, b in pairs if b - a > 1.0]


def windows_of(run: str, every: float) -> Windows:
    """Return the windows of a run: each from `PAST` before one of its rows to `AHEAD` behind it.

    Positions are interpolated, so that those up to the row need no later one. The torque of a row
    has acted before it: it is reported 7 to 8 ms late.
    """
    table = np.loadtxt(RUNS / f"{run}.csv", delimiter=",", skiprows=1)
    table = table[np.r_[True, np.diff(np.maximum.accumulate(table[:, 0])) > 0]]
    time, q, torque = table[:, 0], table[:, 1:3], table[:, 3]
    found: list[tuple[Array, Array, bool]] = []
    for number, (start, end) in enumerate(swings(time, q)):
        b_holds = number % 2 == 1 and "5x" in run
        sign = -1.0 if b_holds else 1.0
        for now in np.arange(start + PAST, end - AHEAD, every):
            now = time[np.searchsorted(time, now)]
            grid = now + STEP * np.arange(-BEFORE, BEHIND + 1)
            positions = [np.interp(grid, time, column) for column in q.T]
            acting = torque[np.searchsorted(time, grid[:-1] + STEP)]
            found.append((np.stack([positions[0], sign * positions[1]], 1), sign * acting, b_holds))
    return Windows(*map(np.array, zip(*found)))


def mixed(first: Array, second: Array, part: Array) -> Array:
    """Return the first where a part is 0, the second where it is 1."""
    return first + (second - first) * part


def slope(p: dict[str, Array], y: Array, torque: Array, b_holds: Array) -> Array:
    """Return the rates of states (..., 4): shoulder, elbow, and their rates."""
    shoulder, elbow, turning, bending = np.moveaxis(y, -1, 0)
    b = np.asarray(b_holds, float)
    a_h, a_s = mixed(p["a_A"], p["a_B"], b), mixed(p["a_B"], p["a_A"], b)
    j_h, j_s = mixed(p["J_A"], p["J_B"], b), mixed(p["J_B"], p["J_A"], b)
    sign = 1.0 - 2.0 * b
    shoulder = shoulder + mixed(p["zero_A"], p["zero_B"], b)
    elbow = elbow + sign * p["elbow"]
    coupling = LENGTH * a_s
    m12 = j_s + coupling * np.cos(elbow)
    m11 = j_h - 2.0 * LENGTH * a_h + p["m"] * LENGTH**2 + 2.0 * m12 - j_s
    m22 = j_s + p["rotor"]
    turned, lower = coupling * np.sin(elbow), GRAVITY * a_s * np.sin(shoulder + elbow)
    right1 = turned * (2.0 * turning + bending) * bending - lower - p["hook"] * turning
    right1 = right1 - GRAVITY * (p["m"] * LENGTH - a_h) * np.sin(shoulder)
    right2 = torque + sign * p["torque"] - turned * turning**2 - lower - p["viscous"] * bending
    right2 = right2 - p["dry"] * np.tanh(bending / SPEED)
    whole = m11 * m22 - m12**2
    changes = (m22 * right1 - m12 * right2) / whole, (m11 * right2 - m12 * right1) / whole
    return np.stack([turning, bending, *changes], axis=-1)


def motion(p: dict[str, Array], start: Array, w: Windows, steps: int) -> Array:
    """Return positions (..., w, steps + 1, 2) from states (..., w, 4), by RK4 on the stamps."""
    y, found = start, [start]
    for i in range(steps):
        h, torque = STEP, w.torque[:, i]
        a = slope(p, y, torque, w.b_holds)
        b = slope(p, y + 0.5 * h * a, torque, w.b_holds)
        c = slope(p, y + 0.5 * h * b, torque, w.b_holds)
        d = slope(p, y + h * c, torque, w.b_holds)
        y = y + h * (a + 2.0 * b + 2.0 * c + d) / 6.0
        found.append(y)
    return np.stack(found, axis=-2)[..., :2]


class Tangent(NamedTuple):
    """Hold residuals (w, r), their slopes by initial states (w, r, 4) and parameters (w, r, p)."""

    left: Array
    states: Array
    parameters: Array


def tangent(
    p: dict[str, float], start: Array, w: Windows, free: Sequence[str], steps: int
) -> Tangent:
    """Return how predictions change, by differences; outliers weigh less (Cauchy's weights)."""
    probe, count = 1e-4, 4 + len(free)
    starts = np.stack([start, *(start + probe * row for row in np.eye(4)), *[start] * len(free)])
    ones = {name: np.full((count + 1, 1), value) for name, value in p.items()}
    for i, name in enumerate(free):
        ones[name][5 + i] += probe
    found = motion(ones, starts, w, steps) / NOISE
    left = (w.q[:, : steps + 1] / NOISE - found[0]).reshape(len(start), -1)
    slopes = ((found[1:] - found[0]) / probe).reshape(count, len(start), -1)
    weight = 1.0 / np.sqrt(1.0 + (left / 4.0) ** 2)
    slopes = np.moveaxis(slopes * weight, 0, -1)
    return Tangent(left * weight, slopes[..., :4], slopes[..., 4:])


def solved(states: Array, left: Array) -> Array:
    """Return what solves windows each by least squares (w, 4, ...)."""
    return np.linalg.pinv(states) @ left


def states_of(p: dict[str, float], w: Windows, steps: int) -> Array:
    """Return the initial states (w, 4) that fit so many steps best."""
    rates = (w.q[:, FEW] - w.q[:, 0]) / (FEW * STEP)
    found = np.concatenate([w.q[:, 0], rates], axis=1)
    for _ in range(3):
        at = tangent(p, found, w, (), steps)
        found = found + solved(at.states, at.left[..., None])[..., 0]
    return found


def fitted(runs: Sequence[str], rounds: int = 8) -> dict[str, float]:
    """Return the parameters that explain windows of these runs best (Gauss and Newton)."""
    p, free, steps = dict(FIRST), [*FIRST], BEFORE + BEHIND
    parts = [windows_of(run, 0.075) for run in runs]
    w = Windows(*map(np.concatenate, zip(*parts)))
    starts = states_of(p, w, steps)
    for _ in range(rounds):
        at = tangent(p, starts, w, free, steps)
        both = np.concatenate([at.parameters, at.left[..., None]], axis=-1)
        rest = (both - at.states @ solved(at.states, both)).reshape(-1, len(free) + 1)
        change = np.linalg.lstsq(rest[:, :-1], rest[:, -1], rcond=None)[0]
        p = {name: value + more for (name, value), more in zip(p.items(), change.tolist())}
        left = (at.left - at.parameters @ change)[..., None]
        starts = starts + solved(at.states, left)[..., 0]
    return p


def predicted(p: dict[str, float], run: str) -> tuple[Array, Array]:
    """Return rms errors [rad] of shoulder and elbow (2,) ahead: by p, at constant velocity."""
    w = windows_of(run, 0.02)
    found = motion(p, states_of(p, w, BEFORE), w, BEFORE + BEHIND)[:, -1]
    now = w.q[:, BEFORE]
    steady = now + AHEAD * (now - w.q[:, BEFORE - FEW]) / (FEW * STEP)
    own, other = (np.sqrt(np.mean((x - w.q[:, -1]) ** 2, axis=0)) for x in (found, steady))
    return own, other


def main() -> None:
    """Leave each run out, and print how it is predicted."""
    runs = sorted(path.stem for path in RUNS.glob("*.csv"))
    print("rms error 0.1 s ahead [rad]: shoulder, elbow")
    print(f"{'run left out':14}{'fitted':>16}{'unfitted':>16}{'constant rate':>16}")
    for run in runs:
        p = fitted([each for each in runs if each != run])
        own, steady = predicted(p, run)
        cells = (own, predicted(FIRST, run)[0], steady)
        print(f"{run:14}" + "".join(f"{s:9.4f}{e:7.4f}" for s, e in cells), flush=True)
    print("all:", ", ".join(f"{name} {value:.4g}" for name, value in fitted(runs).items()))


if __name__ == "__main__":
    main()
