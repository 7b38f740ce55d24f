"""Energy losses in MuJoCo's constraints: stops, contacts and contact friction."""

from __future__ import annotations

import mujoco
import numpy as np

from roboaccord.contract.state import Array
from roboaccord.engines.meter import Losses

WEIGHTS = {1: (1.0,), 4: (1 / 6, 1 / 3, 1 / 3, 1 / 6)}  # of the stages: Euler's, Runge-Kutta 4's
LIMIT = mujoco.mjtConstraint.mjCNSTR_LIMIT_JOINT


class ConstraintMeter:
    """Measure the work of constraint forces in one physics step.

    The forces of the stages, as the integrator weighs them, make an impulse P, which takes
    -P . (v0 + v1) / 2: the part of the change of kinetic energy that is its own.

    Args:
        model, data: of MuJoCo.
        stages: of the integrator, 1 or 4.
    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, *, stages: int) -> None:
        self._model, self._data = model, data
        self._weights = WEIGHTS[stages]
        self._stage = 0
        self._before = np.zeros(model.nv)
        self._impulse = np.zeros(model.nv)

    def begin_stage(self) -> None:
        """Record the state as a stage begins: the forces are still those of the one before."""
        if self._stage == 0:
            self._before[:] = self._data.qvel
            self._impulse[:] = 0.0
        else:
            self._add(self._weights[self._stage - 1])
        self._stage += 1

    def end_step(self) -> Losses:
        """Return the losses in stops, contacts and their friction in the step [J].

        With several stages the rows of all but the last are gone: where there are contacts, all
        that constraints took is counted as theirs.
        """
        self._add(self._weights[-1])
        self._stage = 0
        mean = 0.5 * (self._before + self._data.qvel)
        total = -float(self._impulse @ mean)
        if self._data.ncon == 0:
            return Losses(stops=total)
        if len(self._weights) > 1:
            return Losses(impacts=total)
        return self._by_row(mean)

    def _add(self, weight: float) -> None:
        self._impulse += weight * self._model.opt.timestep * self._data.qfrc_constraint

    def _by_row(self, mean: Array) -> Losses:
        """Return the losses by kind of row; the first row of a contact is along its normal."""
        data = self._data
        rows = data.efc_J.reshape(data.nefc, self._model.nv)
        taken = -self._model.opt.timestep * data.efc_force * (rows @ mean)
        limit = np.asarray(data.efc_type) == LIMIT
        normal = np.zeros(data.nefc, dtype=bool)
        starts = np.array([contact.efc_address for contact in data.contact[: data.ncon]])
        normal[starts[starts >= 0]] = True
        return Losses(
            stops=float(taken[limit].sum()),
            impacts=float(taken[normal].sum()),
            friction=float(taken[~limit & ~normal].sum()),
        )
