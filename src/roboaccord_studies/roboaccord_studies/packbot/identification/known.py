"""The identified arm, read from a file of `accord identify packbot BAG --json`.

Such a file has the errors of the arm's model that a recorded motion shows, with their standard
deviations (unknowns.py). `KnownArm` makes a setup with the identified masses, centres, lengths,
payload and friction, for control, planning and detection. It subtracts the encoder zeros from
measured angles, and divides efforts by the gains of the torque constants. For a quantity that the
motion did not identify, the file has the prior value.

DRY_REMAINING, COMPENSATION_SPEED, SIGMAS and LATENCY_TOLERANCE, which say how far the estimate is
trusted, may be tuned. test_identification checks that the identified arm keeps to its path.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from roboaccord.contract import AccordError, Array, Command, RobotState, clip_efforts, read_text
from roboaccord.scenario import Setup, make_scenario

from roboaccord_studies.packbot.detection.uncertainty import EXPECTED, UNIFORM, Uncertainty
from roboaccord_studies.packbot.identification.drawn_arm import Draw, drawn_setup, with_friction
from roboaccord_studies.packbot.identification.unknowns import BLOCK_LENGTHS, BLOCK_OF, BLOCKS

# Part of dry friction's uncertainty that remains: at rest it may be smaller. By choice, half: how
# far it falls is not known, from not at all to 0.
DRY_REMAINING = 0.5
# rad/s; at slower rates dry friction is compensated in part, as rates are noisy: ten times their
# default noise.
COMPENSATION_SPEED = 0.1
# Number of standard deviations by which the latency may be off (by chance it is off by more in 3 of
# 1000).
SIGMAS = 3.0
# Ticks; the latency is known if its error to the nearest integer number of ticks is smaller: half
# the distance of two of them.
LATENCY_TOLERANCE = 0.5


class KnownArm(NamedTuple):
    """Identified values of the unknowns, in the order of `unknowns.BLOCKS`.

    Args:
        value: estimate (u,); the latency in [s].
        deviation: standard deviation (u,).
    """

    value: Array
    deviation: Array

    @classmethod
    def read(cls, path: str | Path) -> KnownArm:
        """Read a file of `accord identify packbot BAG --json`.

        Raises:
            AccordError: for a file that cannot be read, or is of another kind.
        """
        with suppress(KeyError, TypeError, ValueError, RecursionError):
            blocks = json.loads(read_text(Path(path)))["unknowns"]
            arm = cls(_vector(blocks, "value"), _vector(blocks, "deviation"))
            if arm.is_possible:
                return arm
        raise AccordError(f"{path} is not a result of accord identify packbot BAG --json")

    @property
    def is_possible(self) -> bool:
        """Whether all numbers are finite, and friction and torque constants above 0."""
        finite = np.isfinite([self.value, self.deviation]).all() and (self.deviation > 0.0).all()
        return bool(finite and min(self.of("gain").min(), self.of("viscous").min()) > -1.0)

    def of(self, block: str) -> Array:
        """Return the estimate of a block of the unknowns, by its name in `unknowns.BLOCKS`."""
        return self.value[BLOCKS[block]]

    def setup(self, setup: Setup, *, least: bool = False) -> Setup:
        """Return the setup of the identified arm.

        Args:
            setup: setup of the arm before it was identified.
            least: whether payload and dry friction are the lower ends of their intervals; the
                detector adds half of the intervals itself.
        """
        before = Uncertainty.read(setup.scenario.controller.get("uncertainty"))
        payload, dry = BLOCKS["payload"].start, BLOCKS["coulomb"]
        x = self.value.copy()
        if least:
            x[payload] -= EXPECTED * self._payload_width
            x[dry] -= EXPECTED * DRY_REMAINING * before.hidden(setup.effort_limits)
        x[payload] = max(x[payload], 0.0)
        x[dry] = np.maximum(x[dry], 0.0)
        draw = Draw(x)
        data = with_friction(draw, setup.scenario).data()
        data["parameters"] = {**data["parameters"], "friction_speed": COMPENSATION_SPEED}
        return drawn_setup(draw, make_scenario(data))

    def uncertainty(self, before: Uncertainty, period: float) -> Uncertainty:
        """Return by how much the arm may differ from `setup(least=True)`.

        Args:
            before: uncertainty before the arm was identified.
            period: control period [s].
        """
        remaining = {
            name: min(getattr(before, name), float(self.deviation[BLOCKS[block]].max()) / UNIFORM)
            for name, block in BLOCK_OF.items()
        }
        # The offset is that of the whole payload, here of the uncertain part of it alone.
        offset = float(self.deviation[BLOCKS["payload"]][1:].max()) / UNIFORM
        payload = abs(float(self.of("payload")[0]))
        remaining["payload_offset"] = offset * payload / self._payload_width
        remaining["payload"] = self._payload_width
        remaining["latency"] = before.latency if self.ticks(period) is None else 0.0
        remaining["coulomb"] = DRY_REMAINING * before.coulomb
        return replace(before, **remaining)

    @property
    def _payload_width(self) -> float:
        """Width of the interval of the payload [kg]."""
        return 2.0 * float(self.deviation[BLOCKS["payload"].start]) / UNIFORM

    def ticks(self, period: float) -> int | None:
        """Return the latency of the efforts in control periods; None if the number is uncertain."""
        latency, deviation = self.of("latency")[0], self.deviation[BLOCKS["latency"]][0]
        ticks = max(round(float(latency) / period), 0)
        error = abs(latency - ticks * period) + SIGMAS * deviation
        return ticks if error < LATENCY_TOLERANCE * period else None

    def corrected_state(self, state: RobotState) -> RobotState:
        """Return a measured state, corrected by the zeros of the encoders."""
        return replace(state, q=state.q - self.of("zero"))

    def corrected_command(self, command: Command, limits: Array) -> Command:
        """Return the command with which the drives give the efforts of `command`.

        Args:
            command: with the desired efforts.
            limits: limits of commanded efforts (7,) [N m].
        """
        effort = command.effort / (1.0 + self.of("gain"))
        return replace(command, effort=clip_efforts(effort, limits))


def _vector(blocks: Mapping[str, Mapping[str, object]], key: str) -> Array:
    """Return the numbers of a key in all blocks of a file, one after the other (u,).

    Raises:
        KeyError, TypeError, ValueError: if a block is missing, or has another length.
    """
    rows = [np.array(blocks[name][key], dtype=float) for name in BLOCK_LENGTHS]
    if [len(row) for row in rows] != [*BLOCK_LENGTHS.values()]:
        raise ValueError(f"blocks have other lengths: {key}")
    return np.concatenate(rows)
