"""Command `accord packbot identify`: what a motion identifies of the arm, with intervals.

LEFT decides what counts as identified, ALIKE and LAW which reason is given for the rest; they may
be tuned. Names and units of the parameters, made in `Quantities`, and the fields of `Identified`
stay: they are keys of the JSON output, which `known` reads again. A new quantity is a line of
`Quantities`, with its name and unit. The estimate itself is in `estimate`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from packbot.model.parameters import JOINTS
from roboaccord.bag import read_run
from roboaccord.cli import Result, tables_of
from roboaccord.contract import LEFT_OUT, AccordError, Array, Quantity
from roboaccord.scenario import Setup
from scipy.stats import norm

from roboaccord_studies.packbot.detection.uncertainty import UNIFORM, Uncertainty
from roboaccord_studies.packbot.identification.base_parameters import BaseParameters
from roboaccord_studies.packbot.identification.estimate import Estimate, estimate
from roboaccord_studies.packbot.identification.unknowns import (
    PLACES,
    SIZE,
    STEP,
    N,
    Prior,
    Unknowns,
)
from roboaccord_studies.packbot.recorded import Motion, recorded_motion, setup_of

SIGMAS = float(norm.ppf(0.975))  # of a 95 % interval
LEFT = 0.5  # part of the report's own interval that may be left
SAMPLES, SEED = 100, 0  # of unknowns
ALIKE = 0.9  # correlation of what cannot be distinguished
LAW = 0.03  # of dry friction, where noise of the efforts turns a joint: its sign is smeared
SCALE = "torque_constant_scale"
NEVER = {SCALE: "not distinguishable from the masses without a known payload"}
DRIVE = "shoulder"  # to whose torque constant those of the others are compared


@dataclass(frozen=True)
class Parameter:
    """A quantity and the ends of its 95 % interval."""

    value: Annotated[float, Quantity("", form=".4g")]
    low: Annotated[float, Quantity("", "95 %", form=".4g")]
    high: Annotated[float, Quantity("", "95 %", form=".4g")]
    unit: Annotated[str, Quantity("", form="s")]


@dataclass(frozen=True)
class Unidentified:
    """Why a quantity is not identified."""

    left: Annotated[float, Quantity("1", "of the interval as known before", shown="%", form=".0f")]
    why: Annotated[str, Quantity("", form="text")]


@dataclass(frozen=True)
class Unknown:
    """A part of the unknowns: estimate, and its standard deviation, in SI units."""

    value: list[float]
    deviation: list[float]


@dataclass(frozen=True)
class Identified:
    """What a motion identifies of the arm.

    Args:
        parameters: that are identified, by name.
        not_identified: names of the others.
        unknowns: estimate of all that is not known, by part: for `known.KnownArm`.
        all: of both.
        own: half widths of the intervals as known before.
        reasons: why the others are not identified.
    """

    parameters: dict[str, Parameter]
    not_identified: list[str]
    unknowns: dict[str, Unknown]
    all: dict[str, Parameter] = field(metadata=LEFT_OUT)
    own: dict[str, float] = field(metadata=LEFT_OUT)
    reasons: dict[str, Unidentified] = field(metadata=LEFT_OUT)


class Quantities:
    """Compute physical quantities of the vector of unknowns.

    Args:
        setup: robot and scenario.

    Attributes:
        names, units: of the quantities (k,).
        light: whether friction brakes a joint within a tick (7,).
    """

    def __init__(self, setup: Setup) -> None:
        self._unknowns = Unknowns(setup)
        self._base = BaseParameters(self._unknowns.known, setup.parameters)
        self._period = setup.scenario.control_period
        mass = np.diag(self._unknowns.known.mass_matrix(np.zeros(N)))
        self.light = self._unknowns.viscous * self._period > mass
        self._others = [j for j in range(N) if JOINTS[j] != DRIVE]
        rest = {f"viscous_{j}": "N m s/rad" for j in JOINTS} | {
            f"coulomb_{j}": "N m" for j in JOINTS
        }
        rest |= {"payload_mass": "kg", "payload_y": "m", "payload_z": "m"}
        rest |= {f"torque_constant_{JOINTS[j]}_to_{DRIVE}": "1" for j in self._others}
        rest |= {SCALE: "1", "latency": "s"}
        self.names = [*self._base.names, *rest]
        self.units = [*self._base.units, *rest.values()]

    def of(self, x: Array) -> Array:
        """Return the quantities (k,) of unknowns x (u,)."""
        arm, gain = self._unknowns.arm(x), 1.0 + x[PLACES["gain"]]
        return np.concatenate(
            [
                self._base.matrix(arm) @ arm.parameters,
                self._unknowns.viscous * (1.0 + x[PLACES["viscous"]]),
                x[PLACES["coulomb"]],
                x[PLACES["payload"]],
                gain[self._others] / gain[JOINTS.index(DRIVE)],
                [gain.mean()],
                self._period * x[PLACES["latency"]],
            ]
        )

    def slopes(self, x: Array) -> Array:
        """Return how they change with x (k, u)."""
        known = self.of(x)
        return np.array([(self.of(x + step) - known) / STEP for step in STEP * np.eye(SIZE)]).T


def identify(setup: Setup, motion: Motion, uncertainty: Uncertainty | None = None) -> Identified:
    """Return what a motion identifies of the arm.

    Args:
        setup: robot and scenario, as they are known.
        motion: as measured, without contact.
        uncertainty: of the arm, as known before.
    """
    prior = Prior.of(uncertainty or Uncertainty(), setup.effort_limits)
    found, quantities = estimate(setup, motion, prior), Quantities(setup)
    values, slopes = quantities.of(found.x), quantities.slopes(found.x)
    covariance = slopes @ found.covariance @ slopes.T
    before = _sampled(quantities, prior.mean, np.diag(prior.deviation**2))
    names = quantities.names
    correlation = covariance / np.outer(*2 * [np.sqrt(np.diag(covariance))])
    # Products of unknowns, where both are near 0, have no slope.
    sampled = _sampled(quantities, found.x, found.covariance)
    deviation = np.maximum(found.deviation(slopes), sampled)
    # Where within a physics step an engine samples is not known.
    deviation[-1] = np.hypot(deviation[-1], UNIFORM * setup.scenario.physics_step)
    dry = slice(names.index(f"coulomb_{JOINTS[0]}"), names.index(f"coulomb_{JOINTS[-1]}") + 1)
    smeared = LAW * values[dry] * quantities.light
    deviation[dry] = np.hypot(deviation[dry], smeared)
    left = deviation / before
    half = SIGMAS * deviation
    rows = zip(names, values.tolist(), half.tolist(), quantities.units, strict=True)
    all_ = {name: Parameter(x, x - more, x + more, unit) for name, x, more, unit in rows}
    identified = {name for name, part in zip(names, left, strict=True) if part <= LEFT} - {*NEVER}
    why = partial(_why, names, correlation)
    return Identified(
        {name: each for name, each in all_.items() if name in identified},
        [name for name in names if name not in identified],
        _parts(found, setup.scenario.control_period),
        all_,
        dict(zip(names, (SIGMAS * before).tolist(), strict=True)),
        {
            n: Unidentified(float(left[i]), why(i))
            for i, n in enumerate(names)
            if n not in identified
        },
    )


def _parts(found: Estimate, period: float) -> dict[str, Unknown]:
    """Return the unknowns by part, the latency in [s]."""
    unit = np.ones(SIZE)
    unit[PLACES["latency"]] = period
    x, deviation = unit * found.x, unit * found.deviation(np.eye(SIZE))
    places = PLACES.items()
    return {name: Unknown(x[at].tolist(), deviation[at].tolist()) for name, at in places}


def _sampled(quantities: Quantities, mean: Array, covariance: Array) -> Array:
    """Return standard deviations of quantities (k,) over unknowns that are drawn."""
    draws = np.random.default_rng(SEED).standard_normal((SAMPLES, SIZE))
    samples = mean + draws @ np.linalg.cholesky(covariance).T
    return np.asarray(np.std([quantities.of(x) for x in samples], axis=0))


def _why(names: list[str], correlation: Array, i: int) -> str:
    """Return why a quantity is not identified, by its correlations with the others (k, k)."""
    if names[i] in NEVER:
        return NEVER[names[i]]
    others = np.abs(correlation[i])
    others[i] = 0.0
    j = int(others.argmax())
    return f"hardly distinguishable from {names[j]}" if others[j] > ALIKE else "excited too little"


def identify_command(
    bag: Annotated[Path, typer.Argument(metavar="BAG", help="Bag of a run of the Packbot.")],
) -> Result:
    """Identify the arm's base parameters, friction and payload from a recorded motion.

    Joint states and commanded efforts are enough. A quantity is identified where its 95 % interval
    is at most half as wide as that of what is known before: the uncertainties of the arm, keys of
    `controller.uncertainty` in the scenario. The scenario `identify` moves the arm for a minute so
    that most of it is. `accord identify packbot` is the same.

    Examples:

      accord run packbot identify --engine mujoco --out identified

      accord packbot identify identified/bag --json
    """
    run = read_run(bag)
    setup = setup_of(run)
    try:
        uncertainty = Uncertainty.read(setup.scenario.controller.get("uncertainty"))
    except ValueError as error:
        raise AccordError(str(error)) from None
    found = identify(setup, recorded_motion(setup, run), uncertainty)
    return Result(found, [
        *tables_of(
            [*found.parameters.values()], labels=found.parameters, kind=Parameter,
            title="identified",
        ),
        *tables_of(
            [*found.reasons.values()], labels=found.reasons, kind=Unidentified,
            title="not identified",
        ),
    ])  # fmt: skip
