"""One-step predictions of the reference from recorded states, and its own error in them.

The reference, the analytical model, starts from each recorded state of a run and simulates one
control period (tick). Predictions have n + 12 columns: rates of the n joints, then of the base
linear and angular velocity, position and orientation (3 each); `judged_columns` and `name_rate`
define this order. Callers are level `one_step` (measures/one_step.py) and, for the lift of a robot
at its start, level `trajectory`. MAX_SAMPLED_TICKS may be tuned: more ticks cost time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from roboaccord.contract import AccordError, Array, Trajectory
from roboaccord.crosscheck import round_off
from roboaccord.crosscheck.columns import column_sizes, state_difference
from roboaccord.crosscheck.ticks import Index, evenly_spaced, predict_ticks
from roboaccord.engines.spec import EngineSpec
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator

# Number of ticks at which the reference's own error is measured: its rms is then known to 5 %.
MAX_SAMPLED_TICKS = 200
# Columns of `judged_columns`, from the last: the base's height, its rate, and the base's position.
HEIGHT_COLUMN, CLIMB_COLUMN = -4, -10
POSITION_COLUMNS = slice(-6, -3)


@dataclass(frozen=True)
class Predictions:
    """One-step predictions of the reference for k samples.

    Args:
        judged: errors of joint rates, the base's twist and its pose, predicted less recorded
            (k, n + 12) [rad/s, m/s, rad/s, m, rad].
        change: of joint rates and twist in the reference, over the period (k, n + 6).
    """

    judged: Array
    change: Array

    @property
    def errors(self) -> Array:
        """Errors of joint rates and the base's twist (k, n + 6), without its pose."""
        return self.judged[:, :-6]

    @property
    def base(self) -> float:
        """Largest error of the base's position [m]."""
        return float(np.abs(self.judged[:, POSITION_COLUMNS]).max(initial=0.0))


def judged_columns(values: Array) -> Array:
    """Return rates of joints, twist and pose of the base (k, n + 12), from states (k, 2 n + 12).

    The columns of states are those of columns.py.
    """
    n = (values.shape[1] - 12) // 2
    return values[:, [*range(n, 2 * n), *range(2 * n + 6, 2 * n + 12), *range(2 * n, 2 * n + 6)]]


def predict(
    reference: Simulator, trajectory: Trajectory, samples: Index | None = None
) -> Predictions:
    """Predict samples of a trajectory from those before them, under the recorded commands.

    Args:
        reference: starts from each recorded state.
        trajectory: recorded.
        samples: indices of the states to start from; all where None.
    """
    chosen = np.arange(len(trajectory) - 1) if samples is None else samples
    ends = predict_ticks(reference, trajectory, chosen)[0]
    errors = judged_columns(state_difference(trajectory.at(chosen + 1), ends))
    changes = judged_columns(state_difference(trajectory.at(chosen), ends))
    return Predictions(errors, changes[:, :-6])


def lift_at_start(setup: Setup, engine: EngineSpec) -> Array:
    """Return by how much an engine's contacts lift a robot at its start (n + 12,).

    An engine may hold a robot on the ground by a footing, a contact that the robot is built to
    overlap by some depth. Its contacts then lift the robot by that depth in the first step, which
    the reference's plane does not. Zero for engines without a footing.
    """
    lifts = np.zeros(len(setup.joints) + 12)
    try:
        footing = engine.case(setup).footing
    except AccordError:  # the engine has no twin, hence no footing
        return lifts
    if footing:
        depth = abs(footing.radius - float(setup.initial.position[2]))
        lifts[HEIGHT_COLUMN], lifts[CLIMB_COLUMN] = depth, depth / setup.scenario.physics_step
    return lifts


def measure_floor(
    coarse: Simulator, run: Trajectory, fine: Predictions, ticks: Index, rounding: float
) -> Array:
    """Return the rms of the reference's own error (n + 12,), by predictions at two steps.

    Args:
        coarse: reference at another physics step than that of `fine`.
        run: recorded.
        fine: predictions of the ticks at the smallest step.
        ticks: indices of the predicted ticks (k,).
        rounding: of the run's arithmetic.
    """
    samples = evenly_spaced(len(ticks), MAX_SAMPLED_TICKS)
    own_errors = predict(coarse, run, ticks[samples]).judged - fine.judged[samples]
    sizes = judged_columns(column_sizes(run)[None])[0]
    scale = round_off.of_coordinates(rounding) * np.maximum(sizes, 1.0)
    return np.asarray(np.sqrt(np.mean(own_errors**2, axis=0)) + scale)


def name_rate(joints: tuple[str, ...], index: int) -> str:
    """Return the name of a column of `judged_columns`, for a finding."""
    kinds = ("linear velocity", "angular velocity", "position", "orientation")
    base = [f"{kind} of base_link along {a}" for kind in kinds for a in "xyz"]
    return [*(f"rate of {joint}" for joint in joints), *base][index]
