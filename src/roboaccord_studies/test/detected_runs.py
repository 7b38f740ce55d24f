"""Runs of the Packbot as a detector is given them, for tests."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from roboaccord.contract.fault import Fault
from roboaccord.contract.state import Array
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.controllers import make_controller
from roboaccord.scenario.setup import Setup


def rows_of(setup: Setup, failed: Fault | None) -> list[Array]:
    """Return time, angles, rates and efforts of a run in MuJoCo in which a joint may fail."""
    simulator, control = make_simulator(setup, "mujoco"), make_controller(setup)
    control.reset(0)
    state, effort = simulator.reset(setup.initial), np.zeros(len(setup.joints))
    rows = []
    while state.time < setup.scenario.duration - 1e-9:
        rows.append((state.time, state.measured.q, state.measured.qd, effort))
        if failed and abs(state.time - failed.time) < 1e-9:
            simulator.fail(replace(failed, time=0.0))
        command = control.update(state.measured, None)
        effort, state = command.effort, simulator.step(command, setup.scenario.control_period)
    return [np.array(column) for column in zip(*rows, strict=True)]
