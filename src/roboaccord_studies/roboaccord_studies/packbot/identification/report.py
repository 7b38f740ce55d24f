"""Command `accord identify packbot`: what a motion identifies of the arm, with intervals.

By how much the Packbot's arm differs from its model is a vector of unknowns (unknowns.py). The
unknowns are estimated from the motion (estimate.py), and turned into quantities with names and
units: base parameters (the combinations of inertial parameters that a motion can show), friction,
payload, ratios of torque constants, latency. A quantity counts as identified if its 95 % interval
is at most half as wide as before the motion. For the others, the reason is given: the quantity with
which it is most correlated, or too little excitation.

The constants may be tuned. Names and units are keys of the JSON output, which `known` reads, and
must stay. test_identification compares intervals with the truth.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import numpy as np
from packbot.model.parameters import JOINTS
from roboaccord.bag import read_run
from roboaccord.cli import Result, tables_of
from roboaccord.contract import LEFT_OUT, AccordError, Array, Quantity
from roboaccord.scenario import Setup
from scipy.stats import norm

from roboaccord_studies.packbot.detection.uncertainty import UNIFORM, Uncertainty
from roboaccord_studies.packbot.identification.base_parameters import BaseParameters
from roboaccord_studies.packbot.identification.estimate import Estimate, estimate
from roboaccord_studies.packbot.identification.unknowns import BLOCKS, SIZE, STEP, Prior, Unknowns
from roboaccord_studies.packbot.recorded import Motion, recorded_motion, setup_of

SIGMAS = float(norm.ppf(0.975))  # standard deviations in half a 95 % interval
# Largest width of an identified quantity's interval, over that before. By choice: of two drawn arms
# (`recorded` of test_identification, seeds 10 and 11) 83, 112 and 132 quantities are identified
# with 0.25, 0.5 and 0.9.
MOST_REMAINING = 0.5
# Number of random draws of the unknowns, and their seed: standard deviations are known to 7 %.
SAMPLES, SEED = 100, 0
# Correlation above which two quantities are hardly distinguishable: each is then 2.3 times as
# uncertain as with the other known, 1 / sqrt(1 - 0.9^2).
ALIKE = 0.9
# Relative error of dry friction of light joints, which noise of the efforts moves. Of the same
# arms, all intervals hold the truth with 0 to 0.06.
LIGHT_DRY_ERROR = 0.03
SCALE = "torque_constant_scale"  # mean ratio of the torque constants and those of the model
# Quantities that no motion identifies, and why.
UNIDENTIFIABLE = {SCALE: "not distinguishable from the masses without a known payload"}
LEFT = Quantity("1", "of the interval as known before", "left", ".0f", "%")  # how it is printed
REFERENCE_DRIVE = "shoulder"  # joint whose torque constant those of the others are compared with


@dataclass(frozen=True)
class Parameter:
    """A quantity and the ends of its 95 % interval."""

    value: Annotated[float, Quantity("", form=".4g")]
    low: Annotated[float, Quantity("", "95 %", form=".4g")]
    high: Annotated[float, Quantity("", "95 %", form=".4g")]
    unit: Annotated[str, Quantity("", form="s")]


@dataclass(frozen=True)
class Unidentified:
    """Why a quantity is not identified.

    Args:
        remaining: width of its interval over that before the motion.
        reason: in words.
    """

    remaining: Annotated[float, LEFT]
    reason: Annotated[str, Quantity("", name="why", form="text")]


@dataclass(frozen=True)
class Unknown:
    """A block of the unknowns: estimate, and its standard deviation, in SI units."""

    value: list[float]
    deviation: list[float]


@dataclass(frozen=True)
class Identified:
    """What a motion identifies of the arm.

    Args:
        parameters: quantities that are identified, by name.
        not_identified: names of the other quantities.
        unknowns: estimate of the unknowns by block, which `known.KnownArm` reads.
        all: both identified and other quantities, by name.
        half_widths_before: half widths of the 95 % intervals before the motion, by name.
        reasons: why the other quantities are not identified.
    """

    parameters: dict[str, Parameter]
    not_identified: list[str]
    unknowns: dict[str, Unknown]
    all: dict[str, Parameter] = field(metadata=LEFT_OUT)
    half_widths_before: dict[str, float] = field(metadata=LEFT_OUT)
    reasons: dict[str, Unidentified] = field(metadata=LEFT_OUT)


class Quantities:
    """Physical quantities of an arm, by the vector of its unknowns.

    Args:
        setup: robot and scenario.

    Attributes:
        names, units: of the quantities (k,).
        light: whether friction brakes a joint within a tick (7,).
    """

    def __init__(self, setup: Setup) -> None:
        self._unknowns = Unknowns(setup)
        self._base = BaseParameters(self._unknowns.nominal, setup.parameters)
        self._period = setup.scenario.control_period
        mass = np.diag(self._unknowns.nominal.mass_matrix(np.zeros(len(JOINTS))))
        self.light = self._unknowns.viscous * self._period > mass
        self._others = [j for j, name in enumerate(JOINTS) if name != REFERENCE_DRIVE]
        units = {f"viscous_{j}": "N m s/rad" for j in JOINTS}
        units |= {f"coulomb_{j}": "N m" for j in JOINTS}
        units |= {"payload_mass": "kg", "payload_y": "m", "payload_z": "m"}
        units |= {f"torque_constant_{JOINTS[j]}_to_{REFERENCE_DRIVE}": "1" for j in self._others}
        units |= {SCALE: "1", "latency": "s"}
        self.names = [*self._base.names, *units]
        self.units = [*self._base.units, *units.values()]

    def of(self, x: Array) -> Array:
        """Return the quantities (k,) of unknowns x (u,)."""
        arm = self._unknowns.arm(x)
        base_parameters = self._base.matrix(arm) @ arm.parameters
        viscous = self._unknowns.viscous * (1.0 + x[BLOCKS["viscous"]])
        coulomb, payload = x[BLOCKS["coulomb"]], x[BLOCKS["payload"]]
        gain = 1.0 + x[BLOCKS["gain"]]
        ratios = gain[self._others] / gain[JOINTS.index(REFERENCE_DRIVE)]
        latency = self._period * x[BLOCKS["latency"]]
        blocks = (base_parameters, viscous, coulomb, payload, ratios, [gain.mean()], latency)
        return np.concatenate(blocks)

    def slopes(self, x: Array) -> Array:
        """Return the derivatives of the quantities by x (k, u)."""
        nominal = self.of(x)
        return np.array([self.of(x + step) - nominal for step in STEP * np.eye(SIZE)]).T / STEP


def identify(setup: Setup, motion: Motion, uncertainty: Uncertainty | None = None) -> Identified:
    """Return what a motion identifies of the arm.

    Args:
        setup: robot and scenario, as they are known.
        motion: as measured, without contact.
        uncertainty: of the arm, as known before the motion.
    """
    prior = Prior.of(uncertainty or Uncertainty(), setup.effort_limits)
    result, quantities = estimate(setup, motion, prior), Quantities(setup)
    names, values = quantities.names, quantities.of(result.x).tolist()
    before = _sampled(quantities, prior.mean, np.diag(prior.deviation**2))
    deviation, correlation = _deviations(setup, quantities, result)
    half_widths = (SIGMAS * deviation).tolist()
    everything, identified = dict[str, Parameter](), dict[str, Parameter]()
    reasons = dict[str, Unidentified]()
    for i, name in enumerate(names):
        low, high = values[i] - half_widths[i], values[i] + half_widths[i]
        everything[name] = Parameter(values[i], low, high, quantities.units[i])
        remaining = float(deviation[i] / before[i])
        if remaining <= MOST_REMAINING and name not in UNIDENTIFIABLE:
            identified[name] = everything[name]
        else:
            reasons[name] = Unidentified(remaining, _reason(names, correlation, i))
    return Identified(
        parameters=identified,
        not_identified=[*reasons],
        unknowns=_blocks(result, setup.scenario.control_period),
        all=everything,
        half_widths_before=dict(zip(names, (SIGMAS * before).tolist(), strict=True)),
        reasons=reasons,
    )


def _deviations(setup: Setup, quantities: Quantities, result: Estimate) -> tuple[Array, Array]:
    """Return standard deviations of quantities (k,), and their correlations (k, k)."""
    names, slopes = quantities.names, quantities.slopes(result.x)
    covariance = slopes @ result.covariance @ slopes.T
    # Products of unknowns, where both are near 0, have no slope.
    sampled = _sampled(quantities, result.x, result.covariance)
    deviation = np.maximum(result.deviation(slopes), sampled)
    # The last quantity is the latency: where within a physics step an engine samples is not known.
    deviation[-1] = np.hypot(deviation[-1], UNIFORM * setup.scenario.physics_step)
    dry = slice(names.index(f"coulomb_{JOINTS[0]}"), names.index(f"coulomb_{JOINTS[-1]}") + 1)
    smeared = LIGHT_DRY_ERROR * quantities.of(result.x)[dry] * quantities.light
    deviation[dry] = np.hypot(deviation[dry], smeared)
    sizes = np.sqrt(np.diag(covariance))
    return deviation, covariance / np.outer(sizes, sizes)


def _blocks(result: Estimate, period: float) -> dict[str, Unknown]:
    """Return the unknowns by the name of their block, the latency in [s]."""
    unit = np.ones(SIZE)  # of each unknown in the file, over that of the vector
    unit[BLOCKS["latency"]] = period
    x, deviation = unit * result.x, unit * result.deviation(np.eye(SIZE))
    blocks = BLOCKS.items()
    return {name: Unknown(x[at].tolist(), deviation[at].tolist()) for name, at in blocks}


def _sampled(quantities: Quantities, mean: Array, covariance: Array) -> Array:
    """Return standard deviations of quantities (k,) over random unknowns.

    Args:
        quantities: functions of the unknowns.
        mean, covariance: of the normal distribution of the unknowns (u,), (u, u).
    """
    draws = np.random.default_rng(SEED).standard_normal((SAMPLES, SIZE))
    samples = mean + draws @ np.linalg.cholesky(covariance).T
    return np.asarray(np.std([quantities.of(x) for x in samples], axis=0))


def _reason(names: list[str], correlation: Array, i: int) -> str:
    """Return why quantity i is not identified, by the correlations of all of them (k, k)."""
    if names[i] in UNIDENTIFIABLE:
        return UNIDENTIFIABLE[names[i]]
    others = np.abs(correlation[i])
    others[i] = 0.0
    j = int(others.argmax())
    return f"hardly distinguishable from {names[j]}" if others[j] > ALIKE else "excited too little"


def identify_command(bag: Path) -> Result:
    """Identify the arm's base parameters, friction and payload from a recorded motion.

    Joint states and commanded efforts are enough. A quantity is identified where its 95 % interval
    is at most half as wide as that of what is known before: the uncertainties of the arm, keys of
    `controller.uncertainty` in the scenario. The scenario `identify` moves the arm for a minute so
    that most of it is.

    Examples:

      accord run packbot identify --engine mujoco --out identified

      accord identify packbot identified --json
    """
    run = read_run(bag)
    setup = setup_of(run)
    try:
        uncertainty = Uncertainty.read(setup.scenario.controller.get("uncertainty"))
    except ValueError as error:
        raise AccordError(str(error)) from None
    result = identify(setup, recorded_motion(setup, run), uncertainty)
    known, others = result.parameters, result.reasons
    tables = tables_of([*known.values()], labels=known, kind=Parameter, title="identified")
    tables += tables_of(
        [*others.values()], labels=others, kind=Unidentified, title="not identified"
    )
    return Result(result, tables)
