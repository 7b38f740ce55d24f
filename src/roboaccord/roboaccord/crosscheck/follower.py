"""An engine follows a manufactured motion: under forces at mid-step, and a feedback.

With the errors e of the motion so far, taken to the middle of a step by a line through the last
two, the forces are those of inverse dynamics for

    q = q* + e,    v = v* + e',    a = a* - 2 w e' - w^2 e

So the feedback is zero on the exact motion, it is of order 2 like the held forces where an error
stays, and all errors fall alike, at w, whatever the robot: a gain alone would leave a long chain
to errors that grow.
"""

from __future__ import annotations

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array, Command
from roboaccord.crosscheck.chosen_motion import ChosenMotion
from roboaccord.crosscheck.convergence import ROUND_OFF
from roboaccord.crosscheck.extrapolation import SAFETY
from roboaccord.crosscheck.inverse_dynamics import InverseDynamics
from roboaccord.description.base_kinds import KINDS
from roboaccord.description.tree import Tree
from roboaccord.engines.model import BASE_LINK, EngineModel
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator

BANDWIDTH = 10.0  # rad/s, w of the feedback
FAR = 1e3  # rad or m: an error that runs away
SAMPLES = 8  # moments at which the round-off of the forces is looked at
CLEAR = 10.0  # times that
LOOKS, EDGE = 50, 5  # samples at which missing forces are looked at, and pairs left out at ends
ROUGH = 1e-5  # of what a force is a sum of, in doubt besides
AXES = ("x", "y", "z", "turn about x", "turn about y", "turn about z")
BASE_AXES = [f"{each} of {BASE_LINK}" for each in AXES]


class Follower:
    """Let a model in an engine follow its manufactured motion.

    Args:
        setup: robot and scenario.
        model: as it is meant to be.
        length: of the motion [s].

    Raises:
        AccordError: for a model of which there is no inverse dynamics.
    """

    def __init__(self, setup: Setup, model: EngineModel, length: float) -> None:
        tree = Tree.parse(model.urdf, root=model.root)
        self._length, self._tree, self._joints = length, tree, model.joints
        self._inverse = InverseDynamics(model, tree)
        self._motion = ChosenMotion(model, tree, setup.initial, setup.joints, length)
        axes, self._tilts = KINDS[model.base].axes, KINDS[model.base].tilts
        slides = [joint.name for joint in tree.moving if joint.kind == "prismatic"]
        self.names = {BASE_AXES[axis]: "m" if axis < 3 else "rad" for axis in axes}
        self.names |= {name: "m" if name in slides else "rad" for name in model.joints}

    @np.errstate(all="ignore")
    def follow(self, simulator: Simulator) -> Array:
        """Return the errors of the coordinates after each step (k, c); NaN where they run away."""
        step = simulator.physics_step
        motion, inverse = self._motion, self._inverse
        count = round(self._length / step)
        errors = np.full((count, len(self.names)), np.nan)
        state = simulator.reset(motion.at(0.0).state(0.0))
        error = np.zeros((2, len(self.names)))
        before = error
        for k in range(count):
            middle = motion.at((k + 0.5) * step)
            away, faster = 1.5 * error - 0.5 * before
            change = -BANDWIDTH * (BANDWIDTH * away + 2.0 * faster)
            there = motion.displaced(middle, away, faster, change)
            forces = inverse.inertial(there) - inverse.pushing(there) - inverse.braking(middle)
            wrench, effort = inverse.split(forces)
            try:
                state = simulator.step(Command(effort, wrench=wrench), step)
            except AccordError:  # of a simulator that refuses what runs away
                break
            error, before = motion.apart(state, motion.at((k + 1) * step)), error
            errors[k] = error[0]
            if not np.abs(error[0]).max(initial=0.0) < FAR:
                break
        return errors

    def floor(self) -> Array:
        """Return what round-off makes of the coordinates (c,): of forces, behind the feedback."""
        off = np.zeros(len(self.names))
        for time in np.linspace(0.0, self._length, SAMPLES):
            moment = self._motion.at(float(time))
            forces = self._inverse.inertial(moment)
            off = np.maximum(off, np.abs(self._inverse.missing(moment, forces)))
        return CLEAR * off / BANDWIDTH**2 + ROUND_OFF

    def missing_at(self, first: Array, last: Array, step: float) -> tuple[list[str], bool]:
        """Return the outermost joints at which forces are missing, and whether at one alone.

        Or `base_link`, where they are missing at no joint; nothing where that cannot be told, from
        few samples say.

        A link that is wrong asks for forces at its joint and those between that and the base, not
        beyond: of a serial robot one joint is outermost, the one that carries the link.

        Args:
            first, last: errors at a step of 0, by two estimates (k, c).
            step: between their samples [s].
        """
        if len(last) < 4 * EDGE:
            return [], False
        other, _ = self._forces_behind(first, step, 1)
        wide, size = self._forces_behind(last, step, 2)
        found, _ = self._forces_behind(last, step, 1)
        doubt = SAFETY * (np.abs(other - found) + np.abs(wide - found)) + ROUGH * size
        acts = np.linalg.norm(found, axis=0) > np.linalg.norm(doubt, axis=0)
        at = [name for name, here in zip(self.names, acts, strict=True) if here]
        joints = {joint.name: joint for joint in self._tree.joints}
        leading = {joint.child: joint for joint in self._tree.joints}
        inner = set[str]()
        for name in at:
            joint = leading.get(joints[name].parent) if name in joints else None
            while joint is not None:
                inner.add(joint.name)
                joint = leading.get(joint.parent)
        outer = [name for name in at if name in joints and name not in inner]
        return outer or [BASE_LINK][: len(at)], len(at) == len(outer) == 1

    def _forces_behind(self, error: Array, step: float, stride: int) -> tuple[Array, Array]:
        """Return the forces behind errors at some samples (s, c), and what they are sums of.

        By differences of every sample, or of every second.
        """
        error, step = error[stride - 1 :: stride], stride * step
        moments = [self._motion.at((k + 1) * step) for k in range(len(error))]
        rate = np.gradient(error, step, axis=0)
        if self._tilts:  # of the rotation vector between two frames that turn
            rate[:, 3:6] -= np.cross([moment.twist[3:] for moment in moments], error[:, 3:6])
        change = np.gradient(rate, step, axis=0)
        wanted = change + BANDWIDTH * (2.0 * rate + BANDWIDTH * error)
        pairs = len(error) * stride // 2
        found = list[tuple[Array, Array]]()
        for pair in np.linspace(EDGE, pairs - EDGE, LOOKS).astype(int):
            k = 2 * pair // stride - 1
            there = self._motion.displaced(moments[k], error[k], rate[k], change[k])
            found.append(self._inverse.behind(there, rate[k], wanted[k]))
        forces, sizes = zip(*found, strict=True)
        return np.array(forces), np.array(sizes)

    def least_step(self) -> float:
        """Return the physics step above which explicit schemes fail for joint friction [s]."""
        return 2.0 / max(self._inverse.stiffness(self._motion.at(0.0)), 1e-9)
