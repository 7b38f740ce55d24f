"""Control periods (ticks) that no integration scheme simulates with its order.

In these ticks something happens within a step: an event or a switch, a contact, a joint at its
stop, or dry friction that reverses (a kink). Levels leave them out, or judge them in another way.
Each function here returns a mask over the k - 1 ticks of a run of k samples. RESOLVED_STEPS may be
tuned with care: it decides what counts as a kink.
"""

from __future__ import annotations

import numpy as np

from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.ticks import TIME_ROUND_OFF, Mask
from roboaccord.engines import REFERENCE, EngineSpec
from roboaccord.engines.base import EngineSimulator, engine_parts
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator
from roboaccord.simulators.stop_watch import RELEASE

# Number of physics steps that a reversal of friction must take for a scheme to keep its order.
# Measured on dv/dt = -3 - v / sqrt(v^2 + w^2): RK4 has the order 3.9 from 4 steps on, and 0.7 to
# 4.9 below.
RESOLVED_STEPS = 4.0


def contact_ticks(setup: Setup, engine: EngineSpec, run: Trajectory) -> Mask | None:
    """Return in which ticks something touches; None if the engine does not report it.

    The run is repeated in the engine. If that does not simulate in this process, the reference
    starts from each recorded state instead. A tick before and after a contact counts, too.
    """
    touched = np.zeros(len(run) + 1, dtype=bool)  # by tick, with one more before and after
    if setup.contact is None:
        return touched[2:]
    simulator = make_simulator(setup, engine if engine.simulator else REFERENCE)
    simulator.reset(run.state(0))
    for i in range(len(run) - 1):
        if not engine.simulator:
            simulator.reset(run.state(i))
        simulator.step(run.command(i), run.period(i))
        contacts = simulator.contacts()
        if contacts is None:
            return None
        touched[i + 1] = bool(contacts)
    return touched[:-2] | touched[1:-1] | touched[2:]


def eventful_ticks(run: Trajectory, period: float) -> Mask:
    """Return in which ticks there is an event or a switch, or a sample is missing.

    Args:
        run: recorded.
        period: control period [s].
    """
    mask = np.abs(np.diff(run.time) - period) > TIME_ROUND_OFF
    for event in run.events:
        index = np.searchsorted(run.time, event.time - TIME_ROUND_OFF)
        mask[max(index - 1, 0) : index + 1] = True
    for switch in run.switches.values():
        mask |= np.diff(switch)
    return mask


def kink_ticks(simulator: Simulator, run: Trajectory, step: float) -> Mask:
    """Return in which ticks dry friction reverses within few physics steps.

    Smoothed dry friction changes its sign over a width of rates [rad/s]. If a rate crosses 0 so
    fast that fewer than RESOLVED_STEPS physics steps fall into that width, no scheme keeps its
    order, and the tick counts as an event. A hinge that is not a joint of the run has the rates of
    the base.

    Args:
        simulator: with the friction of its models.
        run: recorded.
        step: physics step [s].
    """
    mask = np.zeros(len(run) - 1, dtype=bool)
    share_of_tick = step / np.diff(run.time)
    for model in simulator.parts():
        law = model.intended.friction if isinstance(model, EngineSimulator) else None
        if law is None or not law.any_dry:
            continue
        width = law.speed if law.stiction is None else min(law.speed, law.stribeck_speed)
        dry = law.constant if law.stiction is None else law.stiction
        for joint, torque in zip(model.joints, dry, strict=True):
            if not torque > 0.0:
                continue
            is_recorded = joint in run.joints
            rates = run.qd[:, [run.joints.index(joint)]] if is_recorded else run.twist[:, 3:]
            low, high = np.minimum(rates[:-1], rates[1:]), np.maximum(rates[:-1], rates[1:])
            is_fast = (high - low) * share_of_tick[:, None] > width / RESOLVED_STEPS
            mask |= ((low <= 0.0) & (high >= 0.0) & is_fast).any(axis=1)
    return mask


def stop_ticks(simulator: Simulator, run: Trajectory) -> Mask:
    """Return in which ticks a joint is at its stop, at the beginning or at the end."""
    mask = np.zeros(len(run), dtype=bool)
    for part in engine_parts(simulator):
        limits = {joint.name: (joint.lower, joint.upper) for joint in part.tree.moving}
        for name, q in zip(run.joints, run.q.T, strict=True):
            lower, upper = limits.get(name, (-np.inf, np.inf))
            mask |= (q < lower + RELEASE) | (q > upper - RELEASE)
    return mask[1:] | mask[:-1]
