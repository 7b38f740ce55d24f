"""Run the servos of all joints in all engines and modes, and compare them with the exact response.

The exact response of a held robot is the closed form of linear.py, under the name EXACT beside the
engines; its weight depends on the angle, so that it holds a pose in the reference. Where nothing is
held the exact response is that of the reference. `Responses.run` returns what `--json` prints; the
keys of `joints` and `match` stay.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import product
from typing import Any

import numpy as np
from roboaccord.contract import AccordError, Array
from roboaccord.description.dynamics import TreeDynamics
from roboaccord.engines import REFERENCE
from roboaccord.robots.joint_friction import friction_of
from roboaccord.scenario import Setup

from roboaccord_files.servo import linear
from roboaccord_files.servo.identify import NOISE, WORTH, Found, identify, proposal
from roboaccord_files.servo.linear import Joint, Servo
from roboaccord_files.servo.rig import Rig

EXACT = "exact"  # in place of an engine's name: the closed form
LEFT = 8.5  # a run takes until e^-LEFT of the slowest motion is left
FEW, MANY = 24, 2000  # control ticks of a run; by FEW poles are found
PRECISION = 1.01  # ratio of the stiffnesses between which the limit of an engine is found
SLACK = 1e-4  # a pole this far beyond 1 is unstable: single precision finds poles so well
NUDGE = 0.1  # start of such a run, over the step
RAMP = 0.5  # rad/s or m/s
# Relative change in the last eighth of a droop that has settled, and size over the step of one that
# shows the stiffness.
AT_REST, FELT = 2e-3, 1e-3
Key = tuple[str, str]  # engine and mode
Run = dict[int, tuple[Rig, Array, Found | None]]  # rig, response and its servo by number of a joint
Runs = dict[Key, Run]
Curves = dict[str, dict[Key, dict[str, Array]]]  # by joint, then by engine and mode


def statics(setup: Setup, q: Array) -> tuple[Array, Array]:
    """Return the inertia about each joint while the others are held, and their weights (n,)."""
    gravity, base = setup.parameters.gravity, setup.scenario.base
    tree = TreeDynamics(setup.tree, setup.joints, base, gravity, sure=True)
    mass, forces = tree.statics(q, np.eye(3))
    return np.diag(mass)[-len(q) :], forces[-len(q) :]


@dataclass(frozen=True)
class Responses:
    """The servos whose responses are compared, and these.

    Args:
        setup: robot and scenario, with gravity.
        servos: of all joints, in the mode `explicit`, with their limits.
        armature: added inertia of rotors (n,).
        steps: size of the step of each joint (n,).
        chosen: numbers of the joints that move.
        engines, modes: names.
        held: whether the others are held.
        curves: filled with the responses by joint, then by engine and mode.
    """

    setup: Setup
    servos: list[Servo]
    armature: Array
    steps: Array
    chosen: Sequence[int]
    engines: Sequence[str]
    modes: Sequence[str]
    held: bool = True
    curves: Curves = field(default_factory=lambda: defaultdict(dict))

    @cached_property
    def joints(self) -> list[Joint]:
        """The joints of the held robot."""
        law, step = friction_of(self.setup), self.setup.scenario.physics_step
        inertias = statics(self.setup, self.setup.initial.q)[0] + self.armature
        damping = law.viscous if law else 0.0 * inertias
        steps = round(self.setup.scenario.control_period / step)
        return [Joint(float(i), float(d), step, steps) for i, d in zip(inertias, damping)]

    def targets(self, number: int) -> dict[str, Array]:
        """Return the targets of step, ramp and hold of a joint (k,)."""
        slowest = abs(self.joints[number].poles(self.servos[number].stiffer(1.0))[0])
        ticks = LEFT / -np.log(slowest) if 0.0 < slowest < 1.0 else FEW
        ones = np.ones(int(np.clip(np.ceil(ticks), FEW, MANY)))
        ramp = RAMP * self.setup.scenario.control_period * np.cumsum(ones)
        return {"step": self.steps[number] * ones, "ramp": ramp, "hold": 0.0 * ones}

    def weight(self, number: int, angle: float) -> float:
        """Return the effort that carries the held robot at an angle beyond the start."""
        unit = np.eye(len(self.steps))[number]
        return float(statics(self.setup, self.setup.initial.q + angle * unit)[1][number])

    def droop(self, number: int, servo: Servo) -> float | None:
        """Return the angle by which the weight moves a joint; None beyond the limit of effort."""
        from scipy.optimize import fsolve

        x = fsolve(lambda x: servo.kp * x[0] + self.weight(number, x[0]), 0.0, xtol=1e-12)[0]
        return float(x) if servo.kp * abs(x) <= servo.effort else None

    def run(self, origin: tuple[str, str], done: Callable[[], None]) -> dict[str, Any]:
        """Return the rows of all joints, what their responses show, and the matches.

        Args:
            origin: engine and mode that the others are to match; "" for the first of each.
            done: called after each joint of an engine in a mode.
        """
        runs, names = Runs(), [*self.setup.joints]
        result = dict[str, Any](versions={}, joints=[], shown=[], match=[], refused=[])
        for key in product([EXACT] * self.held + [*self.engines], self.modes):
            try:
                runs[key] = self._run_in(key, result, done)
            except AccordError as error:
                result["refused"].append(f"{' '.join(key)}: {error}")
        for rows in (result["joints"], result["shown"]):
            rows.sort(key=lambda row: (names.index(row["name"]), self.modes.index(row["mode"])))
        keys = [key for key in runs if key[0] != EXACT]
        firsts = (key for key in keys if all(a in ("", b) for a, b in zip(origin, key)))
        first = next(firsts, ("", ""))
        others = [key for key in keys if first in keys and key != first]
        trials = {key: trial for key in others if (trial := self._trial(runs, first, key))}
        for key in trials:
            pair = {"from": " ".join(first), "to": " ".join(key)}
            result["match"].append(pair | best_of(trials, key))
        return result

    def _run_in(self, key: Key, result: dict[str, Any], done: Callable[[], None]) -> Run:
        """Add the rows of an engine in a mode to a result."""
        (engine, mode), exact, runs = key, key[0] == EXACT, Run()
        which = REFERENCE if exact else engine
        heavy = Rig(self.setup, which, mode == "own", self.armature, self.held)
        parameters = self.setup.scenario.parameters | {"gravity": 0.0}
        scenario = self.setup.scenario.model_copy(update={"parameters": parameters})
        light = replace(heavy, setup=replace(self.setup, scenario=scenario))
        servos = [replace(servo, mode=mode) for servo in self.servos]
        if mode == "explicit" or (mode == "own" and not self.held):  # the reference has no limits
            servos = [servo.stiffer(1.0) for servo in servos]
        result["versions"][which] = light.simulator.version
        for i in self.chosen:
            targets, joint, servo = self.targets(i), self.joints[i], servos[i]
            respond = partial(joint.respond, servo) if exact else partial(light.respond, i, servos)
            curves = {kind: respond(targets[kind]) for kind in ("step", "ramp")}
            curves["hold"] = heavy.respond(i, servos, targets["hold"])
            step, hold, size = curves["step"], curves["hold"], float(self.steps[i])
            head = {"name": self.setup.joints[i], "engine": engine, "mode": mode}
            self.curves[head["name"]][key] = curves
            whole = len(step) == len(targets["step"]) + 1 and abs(step[-1]) < 10.0 * size
            ticks = linear.settling(step, size)
            droop = self.droop(i, servo) if exact else float(hold[-1])
            found = ratio = None
            if whole and self.held and mode not in linear.LIMITED:
                found = Found(servo, joint, "exact", 0.0, servo, joint)
                if not exact:
                    found = identify(step, size, joint, servo, engine, self._felt(i, hold, size))
                ratio = linear.damping_ratio(found.joint.poles(found.servo, found.scheme))
            result["joints"].append(head | {
                "gains": {"kp": servo.kp, "kd": servo.kd}, "delay": servo.delay,
                "armature": float(self.armature[i]),
                "overshoot": max(float(step.max()) / size - 1.0, 0.0) if whole else None,
                "settling": ticks and ticks * self.setup.scenario.control_period,
                "steady_error": None if droop is None or not whole else 0.0 - droop,
                "damping_ratio": ratio,
                "unstable_above": self._limit(light, i, servos) if self.held else None,
            })  # fmt: skip
            known = EXACT if self.held else REFERENCE, mode
            wanted = self.curves[head["name"]].get(known, curves)["step"]
            result["shown"].append(head | {
                "ramp_error": float(targets["ramp"][-1] - curves["ramp"][-1]) if whole else None,
                "error": linear.rms(step, wanted) / size if whole else None,
                "differences": found.differences() if found else {},
            })  # fmt: skip
            runs[i] = light, step, found
            done()
        return runs

    def _felt(self, i: int, hold: Array, size: float) -> float | None:
        """Return the stiffness that a droop shows; None where no weight is felt."""
        end = float(hold[-1])
        settled = abs(end - hold[-len(hold) // 8]) < AT_REST * abs(end)
        return -self.weight(i, end) / end if settled and abs(end) > FELT * abs(size) else None

    def _limit(self, rig: Rig, i: int, servos: list[Servo]) -> float | None:
        """Return the stiffness at which a joint becomes unstable, in an engine by short runs."""
        joint, servo = self.joints[i], servos[i].stiffer(1.0)
        order, still = len(joint.poles(servo)), np.zeros(FEW + 2 * servo.delay)
        guess = joint.unstable_above(servo)

        def unstable(factor: float) -> bool:
            changed = [each.stiffer(factor) for each in servos]
            out = rig.respond(i, changed, still, NUDGE * float(self.steps[i]))
            return len(out) <= len(still) or abs(linear.poles_of(out, order)[0]) > 1.0 + SLACK

        if rig.engine == REFERENCE:
            return guess
        factor = linear.limit_of(unstable, guess and guess / servo.kp, PRECISION)
        return factor and factor * servo.kp

    def _trial(self, runs: Runs, first: Key, key: Key) -> dict[str, Any]:
        """Return by which gains an engine answers as the first, with its errors; {} if by none."""
        errors, gains, armature = list[list[float]](), dict[str, Any](), dict[str, float]()
        for i, (rig, response, second) in runs[key].items():
            (_, wanted, shown), size, name = runs[first][i], self.steps[i], self.setup.joints[i]
            if shown and second:
                servo, more = proposal(wanted, size, shown, second, -self.armature[i])
                known, added = self.servos[i], self.armature + more * np.eye(len(self.servos))[i]
                servo = replace(servo, mode=key[1], effort=known.effort, velocity=known.velocity)
                changed = replace(rig, armature=added) if more else rig
                answer = changed.respond(i, [servo] * len(self.servos), self.targets(i)["step"])
                errors.append([linear.rms(curve, wanted) / size for curve in (response, answer)])
                late = {"delay": servo.delay} if servo.delay != second.servo.delay else {}
                gains[name] = {"kp": servo.kp, "kd": servo.kd} | late
                armature |= {name: float(added[i])} if more else {}
        if not gains:
            return {}
        before, after = np.sqrt(np.mean(np.square(errors), axis=0)).tolist()
        trial = {"gains": gains, "error_before": before, "error_after": after}
        return trial | ({"armature": armature} if armature else {})


def best_of(trials: dict[Key, dict[str, Any]], key: Key) -> dict[str, Any]:
    """Return the trial of an engine, in another of its modes if that is far better."""
    best = own = trials[key]
    for (engine, mode), trial in trials.items():
        large = max(NOISE, WORTH * trial["error_after"])
        if engine == key[0] and best["error_after"] > large:
            best = trial | {"mode": mode, "error_before": own["error_before"]}
    return best
