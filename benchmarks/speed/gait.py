"""Rows of the MonkeyBot's gait: the report's, from many starts, all at the same error.

The final state of each is compared with one at a tolerance of 1e-14, and each method has the
largest tolerance, of powers of a quarter, that keeps all errors within 1e-8. heyoka has its
own equations, in the angles of both links, and its events; scipy has our compiled right-hand side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import scipy
from benchmarks.speed.rows import Row, rate, sized
from monkeybot.gaits.gait import evaluate, full_starts, horizontal
from monkeybot.model import dynamics
from monkeybot.model.hybrid import run_many
from monkeybot.model.parameters import MonkeyBotParameters
from roboaccord.description.parameters import load_parameters
from scipy.integrate import solve_ivp

gait_heyoka: Any = None
with suppress(ImportError):
    gait_heyoka = import_module("benchmarks.speed.gait_heyoka")

# Largest error of the final state: half of the digits, which any scheme reaches.
ERROR = 1e-8
TORQUE = 2.0
GAIT, PARAMETERS = horizontal(TORQUE), load_parameters(MonkeyBotParameters, "monkeybot")
ROW = PARAMETERS.row()  # both links are alike, so it is that of either hand
# Within 0.1 rad and 0.1 rad/s of a start of the gait, where its events stay the same.
STARTS = np.array([0.902, 10.935]) + np.random.default_rng(0).uniform(0.0, 0.1, (sized(20_000), 2))
TRIED = sized(64)  # starts on which a tolerance is tried: enough for a largest error
# From 1.5e-5 to 2e-13, the finest that doubles allow.
TOLERANCES = 4.0 ** -np.arange(8, 22)

Run = Callable[[np.ndarray, float], np.ndarray]


def rows() -> Iterator[Row]:
    ours = rated(ensemble, len(STARTS))
    peers: list[tuple[str, Run, int]] = [
        (f"scipy {scipy.__version__}, {method}", partial(by_scipy, method), count)
        for method, count in (("DOP853", sized(100)), ("RK45", sized(40)))
    ]
    if gait_heyoka:
        name = f"heyoka {gait_heyoka.VERSION}"
        peers.append((name, gait_heyoka.one_by_one, sized(800)))
        peers.append((f"{name}, batch mode", gait_heyoka.batch, sized(4000)))
    for name, run, count in peers:
        batch = "batch" in name
        yield Row(
            "MonkeyBot gaits, ensemble", "gaits/s", ours, rated(run, count), name,
            target=1e5 if batch else None, target_ratio=1.0 if batch else None,
        )  # fmt: skip
    if not gait_heyoka:
        yield Row("MonkeyBot gaits, ensemble", "gaits/s", ours, None, "heyoka is not installed")
    yield Row(
        "MonkeyBot gaits, one by one", "gaits/s", rated(one_by_one, sized(5000)),
        rated(peers[0][1], sized(100)), peers[0][0],
    )  # fmt: skip


def rated(run: Run, count: int) -> Callable[[], float]:
    """Return a pass over some starts, at the method's tolerance for `ERROR`."""
    tolerance = next(t for t in TOLERANCES if error(run, t) <= ERROR)
    return lambda: rate(lambda: run(STARTS[:count], tolerance), count)


def error(run: Run, tolerance: float, tried: int = TRIED) -> float:
    """Return the largest error of a final state (th1, th2, w1, w2) [rad, rad/s]."""
    few = STARTS[:tried]
    return float(np.abs(run(few, tolerance) - one_by_one(few, 1e-14)).max())


def ensemble(starts: np.ndarray, tolerance: float) -> np.ndarray:
    """Return final states (k, 4), as `evaluate` finds them for many starts."""
    return evaluate(GAIT, PARAMETERS, starts, tolerance=tolerance).final


def one_by_one(starts: np.ndarray, tolerance: float) -> np.ndarray:
    """Return final states (k, 4) by the kernel for single starts."""
    phases, k = np.array([phase.row for phase in GAIT.phases]), len(starts)
    times, finals, counts = np.empty((k, len(phases))), np.empty((k, 8)), np.empty(k, dtype=int)
    full = full_starts(starts)
    run_many(PARAMETERS.rows, full, phases, GAIT.stop.row, tolerance, times, finals, counts)
    return finals[:, :4]


def by_scipy(method: str, starts: np.ndarray, tolerance: float) -> np.ndarray:
    """Return final states (k, 4) by solve_ivp."""
    return np.array([_by_scipy(method, rates, tolerance) for rates in starts])


def _by_scipy(method: str, rates: np.ndarray, tolerance: float) -> np.ndarray:
    swing = partial(_swing, method, tolerance)
    u = swing(np.array([0.0, 0.0, *rates]), 0.0, lambda s: s[0] + 0.5 * s[1] - 0.5 * np.pi, 0.0)
    energy = sum(dynamics.energies(ROW, np.array([0.0, 0.0, *rates, 0.0, 0.0, 0.0, 0.0])))
    flipped = np.empty(8)
    dynamics.flip(ROW, u, flipped)
    dynamics.impact(ROW, flipped)
    height = flipped[5]
    u = swing(flipped, TORQUE, lambda s: sum(dynamics.energies(ROW, s)) - energy, height)
    return swing(u, 0.0, lambda s: s[0], height)[:4]


def _swing(
    method: str, tolerance: float, start: np.ndarray, torque: float,
    condition: Callable[[np.ndarray], float], height: float,
) -> np.ndarray:  # fmt: skip
    """Swing until a condition on the state rises through 0; return the state (8,)."""
    full, slopes = np.zeros(8), np.zeros((1, 8))
    full[5] = height

    def slope(_: float, s: np.ndarray) -> np.ndarray:
        full[:4] = s
        dynamics.derivative(ROW, False, torque, full, slopes, 0)
        return slopes[0, :4].copy()

    def event(_: float, s: np.ndarray) -> float:
        full[:4] = s
        return condition(full)

    event.terminal, event.direction = True, 1.0  # type: ignore[attr-defined]
    found = solve_ivp(
        slope, (0.0, 5.0), start[:4], method=method, rtol=tolerance, atol=tolerance, events=event
    )
    full[:4] = found.y[:, -1]
    return full
