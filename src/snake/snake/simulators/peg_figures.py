"""Figures of a run among pegs: how far a cycle takes the snake, and which pegs hold it in a jam.

A snake that follows the track of its gait advances by the wavelength of the track in each cycle,
whatever the friction on the ground: `wavelength` is the exact answer. A cycle that advances less
than KEPT of it is a jam, and the pegs that the snake touched in it are named.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from roboaccord.contract import Array, Event, Tally, Trajectory
from roboaccord.scenario import Setup

from snake.controllers.guidance import TIME_TOLERANCE
from snake.model.coordinates import PlanarSnake
from snake.model.parameters import SnakeParameters
from snake.model.pegs import peg_field
from snake.model.touches import contacts_of
from snake.simulators.metrics import GaitFigures, start_and_cycle

KEPT = 0.9  # share of the wavelength that a cycle advances unless it is a jam
TOUCH = 1e-3  # m: a peg with a smaller gap is touched, in engines whose contacts are soft as well
SAMPLING = 10  # of so many samples of a run one is searched for contacts


def wavelength(parameters: SnakeParameters, amplitude: float, waves: float) -> float:
    """Return the wavelength along its axis of the track that a serpenoid follows [m].

    Headings are those of a chain, alpha cos(phase) with alpha = A / (2 sin(beta / 2)), so the
    length of a wave on the body, times the mean of their cosines: J0(alpha).
    """
    lag = 2.0 * math.pi * waves / parameters.joints
    alpha = amplitude / (2.0 * math.sin(0.5 * lag))
    phases = np.linspace(0.0, 2.0 * math.pi, 64, endpoint=False)
    link = parameters.pivot_behind_front + parameters.pivot_ahead_of_rear
    return float(link * parameters.joints / waves * np.cos(alpha * np.cos(phases)).mean())


class PegFigures(Tally):
    """Measure the figures of a run among pegs, beside those of the gait.

    wavelength   of the track, by the gait's amplitude and waves [m]
    advance      distance of the centre of mass in a cycle, mean from the second cycle on [m]
    kept_cycles  number of cycles from the second one on before the first jam
    jam_peg_NN   how long a peg was touched in the cycle of the first jam [s]; none without a jam
    """

    def __init__(self, setup: Setup) -> None:
        self._gait = GaitFigures(setup)
        self._cycle = start_and_cycle(setup)[1]  # s
        self._chain = PlanarSnake(setup.parameters)
        self._field = peg_field(setup.contact, setup.parameters)
        keys = setup.scenario.controller
        amplitude, waves = float(keys.get("amplitude", 0.4)), float(keys.get("waves", 1.5))
        self._wavelength = wavelength(setup.parameters, amplitude, waves)
        self._ends: list[Array] = []  # centre of mass at the ends of cycles (2,) [m]
        self._touched: list[Array] = [np.zeros(len(self._field.centres))]  # by cycle [s]
        self._count = 0  # of samples

    def add(self, part: Trajectory) -> None:
        """Add the next part of the motion."""
        self._gait.add(part)
        centres = self._chain.pack_motion(part)[:, :2]
        for i in range(1 if self._count else 0, len(part)):
            time = float(part.time[i])
            if self._count % SAMPLING == 0 and self._count:
                pairs, _ = contacts_of(self._chain, self._field, part.state(i), TOUCH)
                span = SAMPLING * (time - float(part.time[i - 1]))
                self._touched[-1][np.unique(pairs[:, 1])] += span
            self._count += 1
            if time >= (len(self._ends) + 1) * self._cycle - TIME_TOLERANCE:
                self._ends.append(centres[i])
                self._touched.append(np.zeros(len(self._field.centres)))

    def figures(self, events: Sequence[Event]) -> Mapping[str, float]:
        """Return the figures by name."""
        ends = np.reshape(self._ends, (-1, 2))
        advances = np.linalg.norm(np.diff(ends, axis=0), axis=1)
        jams = np.flatnonzero(advances < KEPT * self._wavelength)
        # Cycle 0 of `_touched` is the first, which `advances` leaves out.
        touched = self._touched[jams[0] + 1] if len(jams) else np.zeros(0)
        return {
            **self._gait.figures(events),
            "wavelength": self._wavelength,
            "advance": float(advances.mean()) if len(advances) else math.nan,
            "kept_cycles": float(jams[0] if len(jams) else len(advances)),
            **{f"jam_peg_{i + 1:02d}": float(touched[i]) for i in np.flatnonzero(touched)},
        }
