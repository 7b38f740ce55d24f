"""The MonkeyBot's gait by heyoka's Taylor integrator, one by one and in its batch mode.

In batch mode a motion that has met its event waits for the others of its batch. The motor's event
is that of its work, torque on th2, which is linear in the state: the cheapest for heyoka.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import heyoka as hy
import numpy as np
from monkeybot.model.parameters import MonkeyBotParameters
from roboaccord.description.parameters import load_parameters

VERSION = hy.__version__
WIDTH = 2 * hy.recommended_simd_size()  # twice is the faster
# N m, that of gait.py, and s; a swing takes about one.
TORQUE, LIMIT = 2.0, 5.0
M1, I1, L1, R1, M2, I2, L2, R2, G, *_ = load_parameters(MonkeyBotParameters, "monkeybot").row()
MA, MB, MC = I1 + M1 * R1**2 + M2 * L1**2, I2 + M2 * R2**2, M2 * L1 * R2
FIRST, SECOND = M1 * R1 + M2 * L1, M2 * R2  # moments of mass of the links [kg m]

Swing = Callable[[np.ndarray, float, np.ndarray], np.ndarray]


def batch(starts: np.ndarray, tolerance: float) -> np.ndarray:
    """Return final states (k, 4); starts that do not fill the last batch are repeated."""
    swings = [functools.partial(_swing_batch, ta) for ta in _integrators(tolerance, batch=True)]
    padded = np.concatenate([starts, starts[:1].repeat(-len(starts) % WIDTH, axis=0)])
    found = [_gait(swings, padded[i : i + WIDTH]) for i in range(0, len(padded), WIDTH)]
    return np.concatenate(found)[: len(starts)]


def one_by_one(starts: np.ndarray, tolerance: float) -> np.ndarray:
    """Return final states (k, 4)."""
    swings = [functools.partial(_swing_one, ta) for ta in _integrators(tolerance, batch=False)]
    return np.concatenate([_gait(swings, start[None]) for start in starts])


def _gait(swings: Sequence[Swing], rates: np.ndarray) -> np.ndarray:
    """Return final states (k, 4) from the rates at the start (k, 2)."""
    level, motor, vertical = swings
    zero = np.zeros(len(rates))
    s = np.array([zero, zero, rates[:, 0], rates.sum(axis=1)])
    energy = _energy(s)
    s = _change_hands(level(s, 0.0, zero))
    lost = (energy - _energy(s)) / TORQUE  # by so much th2 is to grow
    a, b, p, q = vertical(motor(s, TORQUE, s[1] - s[0] + lost), 0.0, zero)
    return np.column_stack([a, b - a, p, q - p])


@functools.cache
def _integrators(tolerance: float, *, batch: bool) -> list[Any]:
    """Return integrators of the three phases, with their events."""
    a, b = hy.make_vars("a", "b")
    event = hy.t_event_batch if batch else hy.t_event
    made = []
    for ends in (a + b - np.pi, b - a - hy.par[1], a):
        more = {"tol": tolerance, "t_events": [event(ends, direction=hy.event_direction.positive)]}
        if batch:
            made.append(hy.taylor_adaptive_batch(_equations(), np.zeros((4, WIDTH)), **more))
        else:
            made.append(hy.taylor_adaptive(_equations(), [0.0] * 4, **more))
    return made


def _equations() -> list[Any]:
    """Return the swing in the angles of both links from hanging straight down; par 0: torque."""
    a, b, p, q = hy.make_vars("a", "b", "p", "q")
    sine, couple = MC * hy.sin(a - b), MC * hy.cos(a - b)
    f1 = -sine * q * q - G * FIRST * hy.sin(a) - hy.par[0]
    f2 = sine * p * p - G * SECOND * hy.sin(b) + hy.par[0]
    inverse = 1.0 / (MA * MB - couple * couple)
    return [(a, p), (b, q), (p, (MB * f1 - couple * f2) * inverse),
            (q, (MA * f2 - couple * f1) * inverse)]  # fmt: skip


def _swing_batch(ta: Any, state: np.ndarray, torque: float, angle: np.ndarray) -> np.ndarray:
    ta.state[:], ta.pars[0], ta.pars[1:2] = state, torque, angle
    ta.reset_cooldowns()
    ta.set_time(0.0)
    ends, going = np.full(state.shape[1], LIMIT), np.ones(state.shape[1], dtype=bool)
    while going.any():
        ta.propagate_until(ends.tolist())
        for i, (outcome, *_) in enumerate(ta.propagate_res):
            if going[i] and outcome == hy.taylor_outcome(-1):
                ends[i], going[i] = ta.time[i], False
            elif going[i] and outcome == hy.taylor_outcome.time_limit:
                raise SystemExit("heyoka missed an event")
    return np.array(ta.state)


def _swing_one(ta: Any, state: np.ndarray, torque: float, angle: np.ndarray) -> np.ndarray:
    ta.state[:], ta.pars[0], ta.pars[1:2] = state[:, 0], torque, angle
    ta.reset_cooldowns()
    ta.time = 0.0
    if ta.propagate_until(LIMIT)[0] != hy.taylor_outcome(-1):
        raise SystemExit("heyoka missed an event")
    return np.array(ta.state[:, None])


def _energy(s: np.ndarray) -> np.ndarray:
    a, b, p, q = s
    kinetic = 0.5 * MA * p * p + 0.5 * MB * q * q + MC * np.cos(a - b) * p * q
    return np.asarray(kinetic - G * FIRST * np.cos(a) - G * SECOND * np.cos(b))


def _change_hands(s: np.ndarray) -> np.ndarray:
    """Return the states seen from the other hand, which has come to rest."""
    a, b, p, q = s
    vx, vy = L1 * np.cos(a) * p + L2 * np.cos(b) * q, L1 * np.sin(a) * p + L2 * np.sin(b) * q
    first = np.pi + b
    first -= 2.0 * np.pi * np.ceil((first - np.pi) / (2.0 * np.pi))
    second = first - (b - a)
    f1 = FIRST * (np.cos(first) * vx + np.sin(first) * vy)
    f2 = SECOND * (np.cos(second) * vx + np.sin(second) * vy)
    couple = MC * np.cos(first - second)
    det = MA * MB - couple * couple
    return np.array([
        first, second, q + (MB * f1 - couple * f2) / det, p + (MA * f2 - couple * f1) / det
    ])  # fmt: skip
