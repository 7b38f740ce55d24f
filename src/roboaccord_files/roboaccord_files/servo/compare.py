"""Run the servos of all joints in all engines and modes, and compare them with the exact response.

`Comparison.run` fills a `Servos` (result.py). The exact response of a held robot is the closed form
of linear.py; where nothing is held it is that of the reference. The weight that pulls a held joint
follows from the equations of motion, and so does the droop under it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from roboaccord.contract import AccordError, Array
from roboaccord.description.dynamics import TreeDynamics
from roboaccord.engines import REFERENCE
from roboaccord.robots.joint_friction import friction_of
from roboaccord.scenario import Setup

from roboaccord_files.servo.identify import Found, identify
from roboaccord_files.servo.law import LIMITED, Servo
from roboaccord_files.servo.linear import HELD_SCHEMES, OWN_SCHEMES, Joint, stiffer
from roboaccord_files.servo.match import matched
from roboaccord_files.servo.measures import (
    SLACK,
    damping_ratio,
    limit_of,
    overshoot,
    poles_of,
    rms,
    settling,
)
from roboaccord_files.servo.result import EXACT, Answer, Servos, Shown
from roboaccord_files.servo.rig import Rig

LEFT = 8.5  # a run takes until e^-LEFT of the slowest motion is left
SHORTEST, LONGEST = 24, 2000  # control ticks of a run
PHASE = 0.5  # rad; of the samples from which a damping ratio is found
FEW = 24  # ticks by which poles are found
NUDGE = 0.1  # start of such a run, over the step
RAMP = 0.5  # rad/s or m/s
AT_REST = 1e-4  # relative change over FEW ticks of a droop that has settled
FELT = 1e-3  # of the step: a larger droop shows the stiffness


@dataclass(frozen=True)
class Comparison:
    """The servos to compare.

    Args:
        setup: robot and scenario, with its weight.
        weightless: the same without gravity.
        servos: of all joints, in the mode `explicit`, with their limits.
        armature: added inertia of rotors (n,).
        steps: size of the step of each joint (n,).
        chosen: numbers of the joints that move.
        engines, modes: names.
        held: whether the others are held.
    """

    setup: Setup
    weightless: Setup
    servos: Sequence[Servo]
    armature: Array
    steps: Array
    chosen: Sequence[int]
    engines: Sequence[str]
    modes: Sequence[str]
    held: bool = True

    @cached_property
    def _dynamics(self) -> TreeDynamics:
        setup = self.setup
        gravity, base = setup.parameters.gravity, setup.scenario.base
        return TreeDynamics(setup.tree, setup.joints, base, gravity)

    def joint(self, number: int) -> Joint:
        """Return a joint of the held robot."""
        setup, law = self.setup, friction_of(self.setup)
        inertia = inertias(setup)[number] + self.armature[number]
        damping = float(law.viscous[number]) if law else 0.0
        h, period = setup.scenario.physics_step, setup.scenario.control_period
        return Joint(float(inertia), damping, h, round(period / h))

    def ticks(self, number: int) -> int:
        """Return the control ticks of a run of a joint."""
        slowest = float(np.abs(self.joint(number).poles(stiffer(self.servos[number], 1.0))[0]))
        ticks = LEFT / -np.log(slowest) if 0.0 < slowest < 1.0 else SHORTEST
        return int(np.clip(np.ceil(ticks), SHORTEST, LONGEST))

    def weight(self, number: int, angle: float) -> float:
        """Return the effort that carries the held robot at an angle beyond the start."""
        q = np.array(self.setup.initial.q)
        q[number] += angle
        forces = self._dynamics.statics(q, np.eye(3))[1]
        return float(forces[number - len(q)])

    def droop(self, number: int) -> float:
        """Return the angle by which the weight pushes a joint away from its target, exactly."""
        kp, x = self.servos[number].kp, 0.0
        for _ in range(50):  # Newton's method; the weight changes little beside the stiffness
            slope = (self.weight(number, x + 1e-6) - self.weight(number, x - 1e-6)) / 2e-6
            change = -(kp * x + self.weight(number, x)) / (kp + slope)
            x += change
            if abs(change) < 1e-14:
                break
        return x

    def run(self, servos: Servos, origin: tuple[str, str], done: Callable[[], None]) -> None:
        """Fill a result.

        Args:
            servos: result without rows.
            origin: engine and mode that the others are to match; "" for the first of each.
            done: called after each joint.
        """
        found: dict[tuple[str, str], dict[int, tuple[Rig, Array, Found | None]]] = {}
        for mode in self.modes if self.held else ():
            for number in self.chosen:
                self._add_exact(servos, number, mode)
        for engine in self.engines:
            for mode in self.modes:
                try:
                    found[engine, mode] = self._in_engine(servos, engine, mode, done)
                except AccordError as error:
                    servos.refused.append(f"{engine} {mode}: {error}")
        order = {name: i for i, name in enumerate(self.setup.joints)}
        for rows in (servos.joints, servos.shown):
            rows.sort(key=lambda row: (order[row.name], self.modes.index(row.mode)))
        plain = {key: rows for key, rows in found.items() if key[1] not in LIMITED}
        first = next((k for k in plain if all(a in ("", b) for a, b in zip(origin, k))), None)
        if self.held and first:
            servos.match += matched(self, plain, first)

    def _answer(self, number: int, engine: str, servo: Servo, step: Array, droop: float) -> Answer:
        """Return a row without poles, of a response and the end of one that holds the weight."""
        size = float(self.steps[number])
        whole = len(step) == self.ticks(number) + 1 and abs(step[-1]) < 10.0 * size
        return Answer(
            self.setup.joints[number],
            engine,
            servo.mode,
            {"kp": servo.kp, "kd": servo.kd},
            servo.delay,
            float(self.armature[number]),
            overshoot(step, size) if whole else None,
            settling(step, size, self.setup.scenario.control_period) if whole else None,
            0.0 - droop if whole else None,
        )

    def targets(self, number: int) -> dict[str, Array]:
        """Return the targets of step, ramp and hold (k,)."""
        ticks, period = self.ticks(number), self.setup.scenario.control_period
        ramp = RAMP * period * np.arange(1, ticks + 1)
        return {"step": np.full(ticks, self.steps[number]), "ramp": ramp, "hold": np.zeros(ticks)}

    def _add_exact(self, servos: Servos, number: int, mode: str) -> None:
        """Add the row and the curves of the closed form."""
        joint, servo = self.joint(number), replace(self.servos[number], mode=mode)
        targets = self.targets(number)
        curves = {key: joint.respond(servo, targets[key]) for key in ("step", "ramp")}
        start = self.setup.initial.q  # the weight depends on the angle
        heavy = Rig(self.setup, start, REFERENCE, mode == "own", self.armature)
        servos_in_mode = [replace(each, mode=mode) for each in self.servos]
        curves["hold"] = heavy.respond(number, servos_in_mode, targets["hold"])
        row = self._answer(number, EXACT, servo, curves["step"], self.droop(number))
        plain = stiffer(servo, 1.0)
        ratio, limit = damping_ratio(joint.poles(plain)), joint.unstable_above(plain)
        servos.joints.append(replace(row, damping_ratio=ratio, unstable_above=limit))
        servos.curves.setdefault(row.name, {})[f"{EXACT} {mode}"] = curves
        lag = float(targets["ramp"][-1] - curves["ramp"][-1])
        servos.shown.append(Shown(row.name, EXACT, mode, lag, 0.0, {}))

    def _in_engine(
        self, servos: Servos, engine: str, mode: str, done: Callable[[], None]
    ) -> dict[int, tuple[Rig, Array, Found | None]]:
        """Add the rows of an engine; return rig, response and servo of each joint by number."""
        start, found = self.setup.initial.q, {}
        light, heavy = (
            Rig(setup, start, engine, mode == "own", self.armature, self.held)
            for setup in (self.weightless, self.setup)
        )
        servos.versions[engine] = light.simulator.version
        for number in self.chosen:
            all_servos = [replace(servo, mode=mode) for servo in self.servos]
            targets, rigs = self.targets(number), {"step": light, "ramp": light, "hold": heavy}
            curves = {
                key: rig.respond(number, all_servos, targets[key]) for key, rig in rigs.items()
            }
            hold, servo = curves["hold"], all_servos[number]
            row = self._answer(number, engine, servo, curves["step"], float(hold[-1]))
            shown, exact = self._found(number, servo, curves), servos.curves.get(row.name, {})
            truth = exact.get(f"{EXACT if self.held else REFERENCE} {mode}", {}).get("step")
            size = float(self.steps[number])
            error = rms(curves["step"], truth) / size if truth is not None else None
            if self.held:
                row = self._with_poles(row, light, number, all_servos, curves["step"])
            servos.joints.append(row)
            lag = float(targets["ramp"][-1] - curves["ramp"][-1])
            whole = row.overshoot is not None
            differences = shown.differences("exact") if shown else {}
            servos.shown.append(
                Shown(row.name, engine, mode, lag if whole else None, error, differences)
            )
            servos.curves.setdefault(row.name, {})[f"{engine} {mode}"] = curves
            found[number] = light, curves["step"], shown
            done()
        return found

    def _found(self, number: int, servo: Servo, curves: Mapping[str, Array]) -> Found | None:
        """Return the servo that a response shows; None with limits, or if nothing is held."""
        step, hold, size = curves["step"], curves["hold"], float(self.steps[number])
        if not self.held or servo.mode in LIMITED or len(step) <= self.ticks(number):
            return None
        kp, end = None, float(hold[-1])
        settled = abs(hold[-1] - hold[-1 - FEW // 2]) < AT_REST * abs(end)
        if settled and abs(end) > FELT * abs(size):
            kp = -self.weight(number, end) / end
        return identify(step, size, self.joint(number), servo, "exact", kp)

    def _with_poles(
        self, row: Answer, rig: Rig, number: int, servos: Sequence[Servo], response: Array
    ) -> Answer:
        """Return a row with damping ratio and limit of an engine, by short runs."""
        joint, servo = self.joint(number), servos[number]
        order = 2 + (0 if servo.mode == "own" else servo.delay)
        ticks = FEW + 2 * servo.delay
        nudge = NUDGE * float(self.steps[number])

        def poles(factor: float) -> Array:
            changed = [stiffer(s, factor) for s in servos]
            out = rig.respond(number, changed, np.zeros(ticks), nudge)
            return poles_of(out, order) if len(out) == ticks + 1 else np.array([np.inf])

        def unstable(factor: float) -> bool:
            return bool(abs(poles(factor)[0]) > 1.0 + SLACK)

        guesses = (OWN_SCHEMES if servo.mode == "own" else HELD_SCHEMES)[:1]
        guess = joint.unstable_above(stiffer(servo, 1.0), guesses[0])
        factor = limit_of(unstable, guess / servo.kp if guess else None)
        limit = factor * servo.kp if factor else None
        # Of the whole response, some tenths of a radian of its phase apart.
        deviation = response[servo.delay :] - float(self.steps[number])
        slowest = joint.poles(stiffer(servo, 1.0))[0]
        apart = max(int(PHASE / abs(np.log(complex(slowest)))), 1) if slowest else 1
        ratio = damping_ratio(poles_of(deviation[::apart], 2)) if row.settling else None
        return replace(row, damping_ratio=ratio, unstable_above=limit)


def inertias(setup: Setup) -> Array:
    """Return the inertia about each joint while all others are held (n,)."""
    n = len(setup.joints)
    tree = TreeDynamics(setup.tree, setup.joints, setup.scenario.base, 0.0)
    return np.asarray(np.diag(tree.statics(setup.initial.q, np.eye(3))[0])[-n:])
