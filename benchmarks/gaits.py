"""Measure how many gaits of the MonkeyBot are evaluated a second, scipy's solve_ivp beside it.

    taskset -c 1 python benchmarks/gaits.py
    python benchmarks/gaits.py --rounds 10

Both evaluate the report's gait from the same starts, one core, relative and absolute tolerance
1e-8, and take turns. scipy's RK45 is the same pair of formulas; its right-hand side is our compiled
one, and its events are located on its dense output.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from monkeybot.gaits.gait import evaluate, horizontal
from monkeybot.model import dynamics
from monkeybot.model.parameters import MonkeyBotParameters
from roboaccord.description.parameters import load_parameters
from scipy.integrate import solve_ivp

TOLERANCE = 1e-8
TORQUE = 2.0
PARAMETERS = load_parameters(MonkeyBotParameters, "monkeybot")
ROW = PARAMETERS.row()  # both links are alike, so it is that of either hand


def swing(start: np.ndarray, torque: float, condition, height: float) -> np.ndarray:
    """Swing until a condition on the state rises through 0, by scipy; return the state (8,)."""
    full, slopes = np.zeros(8), np.zeros((1, 8))
    full[5] = height

    def rhs(_, s):
        full[:4] = s
        dynamics.derivative(ROW, False, torque, full, slopes, 0)
        return slopes[0, :4].copy()

    def event(_, s):
        full[:4] = s
        return condition(full)

    event.terminal, event.direction = True, 1.0
    found = solve_ivp(rhs, (0.0, 5.0), start[:4], rtol=TOLERANCE, atol=TOLERANCE, events=event)
    full[:4] = found.y[:, -1]
    return full


def gait_by_scipy(rates: np.ndarray) -> float:
    """Return the report's error of one start."""
    u = swing(np.array([0.0, 0.0, *rates]), 0.0, lambda s: s[0] + 0.5 * s[1] - 0.5 * np.pi, 0.0)
    energy = sum(dynamics.energies(ROW, np.array([0.0, 0.0, *rates, 0.0, 0.0, 0.0, 0.0])))
    flipped = np.empty(8)
    dynamics.flip(ROW, u, flipped)
    dynamics.impact(ROW, flipped)
    height = flipped[5]
    u = swing(flipped, TORQUE, lambda s: sum(dynamics.energies(ROW, s)) - energy, height)
    u = swing(u, 0.0, lambda s: s[0], height)
    angle = (u[1] + np.pi) % (2.0 * np.pi) - np.pi
    return float(angle**2 + (u[2] - rates[0]) ** 2 + (u[3] - rates[1]) ** 2)


def main() -> None:
    """Run and print a line for each round."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--gaits", type=int, default=20000)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    starts = np.array([0.902, 10.935]) + rng.uniform(0.0, 0.1, (options.gaits, 2))
    few = starts[: options.gaits // 200]
    gait = horizontal(TORQUE)
    ours = evaluate(gait, PARAMETERS, few, tolerance=TOLERANCE).error
    theirs = np.array([gait_by_scipy(rates) for rates in few])
    print(f"largest difference of the error: {np.abs(ours - theirs).max():.1e}")
    for _ in range(options.rounds):
        began = time.perf_counter()
        evaluate(gait, PARAMETERS, starts, tolerance=TOLERANCE)
        middle = time.perf_counter()
        for rates in few:
            gait_by_scipy(rates)
        ended = time.perf_counter()
        rate, other = len(starts) / (middle - began), len(few) / (ended - middle)
        print(f"{rate:.0f} gaits/s, scipy {other:.0f} gaits/s, {rate / other:.0f} times as many")


if __name__ == "__main__":
    main()
