"""Certificate of contact of a run: the run again, its contact forces against the laws of contact.

`certificate_of` repeats a run of a check from its start, under the recorded commands, one physics
step after another, and reads contacts and states after each; nothing is measured while the run is
made. Residuals are those of contract/certificate.py. A simulator with an error tolerance, whose
forces are those of an instant, is read at the control ticks.

Momentum is balanced by accelerations: those of the run less those by the reference's equations of
motion under the same forces, as a force on the links. On a moving base these are the links that it
carries, on which all forces are known. A fixed base takes up forces that are not, so there contact
forces act on the joints. Steps with a joint at its stop, whose force is none of a contact, have no
residual of momentum, nor have runs with joints that fail, by efforts that are not known. The
momentum of free bodies is added where forces act over a step.

`judge_reference` judges the reference alone: a residual beyond its own tolerances
(`Simulator.contact_bounds`) is a fault of ours, which no scenario can excuse. An engine's residuals
are a measurement: how far it softens the laws is its choice, and what that does to the motion is
judged by the levels.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from roboaccord.contract.certificate import Certificate, Certifier, ContactForce
from roboaccord.contract.contact import Contact, ContactPoint, FreeBody
from roboaccord.contract.interfaces import LinkMotion
from roboaccord.contract.outcome import Code, Finding, Outcome, because
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.check_case import CheckCase
from roboaccord.crosscheck.restart import why_no_restart
from roboaccord.description.kinematics import TreeKinematics, motion_of_bodies, with_bodies
from roboaccord.description.tree import Link
from roboaccord.engines.twin import LOOK_AHEAD
from roboaccord.numerics.rotations import quaternion_matrix, turn_twist
from roboaccord.run.energy_book import Stored, net_work
from roboaccord.simulators.stop_watch import STOP_MARGIN, StopWatch

Points = Sequence[ContactPoint]


def certificate_of(case: CheckCase) -> Certificate | str:
    """Return the certificate of a case's run, or why there is none; called in another process."""
    setup, simulator, run = case.setup, case.simulator, case.run
    weight = sum(link.mass for link in setup.tree.links) * abs(setup.parameters.gravity)
    if setup.contact is None or not weight:
        return "does not apply: the scenario has no contact whose forces simulators solve for"
    witness, certifier = Witness(case, setup.contact), Certifier(weight)
    state = simulator.reset(run.state(0))
    for i in range(len(run) - 1):
        command, period = run.command(i), run.period(i)
        step = period if simulator.tighter else simulator.physics_step
        for _ in range(round(period / step)):
            before, state = state, simulator.step(command, step)
            points = simulator.contacts()
            if points is None or any(point.friction is None for point in points):
                return "does not apply: it gives no contact forces"
            contacts, momentum = witness.contacts(before, state, command, points)
            certifier.add(state.time, contacts, momentum, witness.energy(before, state, command))
    return certifier.result()


def judge_reference(case: CheckCase, certificate: Certificate | str) -> list[Finding]:
    """Return a finding of the laws of contact that the reference breaks; none if it keeps them.

    Args:
        case: of the reference.
        certificate: of its run, or why there is none.
    """
    bounds = {} if isinstance(certificate, str) else case.simulator.contact_bounds
    broken = [
        because(Code.CONTACT_LAW, law=law, **vars(worst), allowed=allowed)
        for law, allowed in bounds.items()
        if (worst := getattr(certificate, law)).value > allowed  # not if it is not known, NaN
    ]
    finding = Finding(Outcome.OUTSIDE, tuple(broken), level="certificate", engine=case.name)
    return [finding] if broken else []


class Witness:
    """Compute what a certificate needs of a step: contact forces, and residuals of the balances.

    Args:
        case: engine and setup.
        contact: pairs that can touch, and their friction.
    """

    def __init__(self, case: CheckCase, contact: Contact) -> None:
        setup, engine = case.setup, case.simulator
        self._simulator, self._reference, self._faults = engine, case.reference, setup.faults
        tree, joints, gravity = setup.tree, setup.joints, setup.parameters.gravity
        self._contact, self._kinematics = contact, TreeKinematics(tree, joints)
        self._lower, self._upper = StopWatch.of(tree, joints).limits
        parts: list[Link | FreeBody] = [*tree.links, *contact.bodies]
        self._links = len(tree.links)  # rows of bodies follow those of links
        self._rows = {part.name: row for row, part in enumerate(parts)}
        self._masses = np.array([part.mass for part in parts])
        self._gravity = np.array([0.0, 0.0, gravity])
        # Links whose momentum is balanced, and those that a moving base carries.
        self._balanced = slice(tree.frame or self._links)  # the first tree
        self._carried = slice(0) if setup.scenario.base == "fixed" else self._balanced
        # Joints that are not in the states store energy that is not known.
        self._is_known = not why_no_restart(engine)
        springs = engine.armature, engine.spring
        self._stored = Stored(tree, joints, gravity, *springs, contact.bodies)

    def energy(self, before: RobotState, after: RobotState, command: Command) -> float | None:
        """Return the rise of the energy beyond the work of a command [J]; None if not known."""
        if not self._is_known:
            return None
        run = Trajectory.from_states(self._simulator.joints, (before, after), (), (command,))
        rise = sum(self._stored.of(after)) - sum(self._stored.of(before))
        return rise - float(net_work(run)[-1])

    def contacts(
        self, before: RobotState, after: RobotState, command: Command, points: Points
    ) -> tuple[list[ContactForce], float | None]:
        """Return contact forces of a step, and the residual of momentum [N], None if not known.

        Args:
            before, after: states around it.
            command: that acted.
            points: contacts in it, with friction that is known.
        """
        # Of a step: forces where it began, and velocities at its end. Of an instant: both there.
        instant, step = self._simulator.contact_acceleration(), after.time - before.time
        place, move = after if instant else before, self._kinematics.move
        t0, t1 = (turn_twist(quaternion_matrix(s.orientation), s.twist) for s in (before, after))
        pose = place.position, quaternion_matrix(place.orientation)
        motion = with_bodies(move(place.q, after.qd, *pose, t1), place.bodies, after.bodies)
        contacts, forces, torques = self._loads(motion, points)
        reach = STOP_MARGIN + LOOK_AHEAD * self._simulator.physics_step * np.abs(place.qd)
        stopped = (place.q < self._lower + reach) | (place.q > self._upper - reach)
        if self._faults or stopped.any():
            return contacts, None
        # Accelerations that efforts, friction of joints and contacts on joints do not explain.
        links = slice(self._links)
        effort = after.effort + self._kinematics.efforts(forces[links], torques[links])[1]
        if friction := self._reference.joint_friction:
            effort = friction.add(effort, place.q, place.qd)
        free = self._reference.acceleration(place, effort)
        assert free is not None  # of a reference in which bodies touch
        joints = instant.joints if instant else (after.qd - before.qd) / step
        excess = move(place.q, joints - free.joints, *pose, (t1 - t0) / step - free.base)
        rest = self._masses[self._balanced] @ excess.linear[self._balanced]
        rest -= forces[self._carried].sum(axis=0)
        rest -= 0.0 if command.wrench is None else command.wrench[:3]
        if not instant:
            speeds = (motion_of_bodies(state.bodies).linear for state in (after, before))
            change = np.subtract(*speeds) / step + self._gravity
            rest += self._masses[self._links :] @ change - forces[self._links :].sum(axis=0)
        return contacts, float(np.linalg.norm(rest))

    def _loads(self, motion: LinkMotion, points: Points) -> tuple[list[ContactForce], Array, Array]:
        """Return contact forces, and forces and torques on links and bodies (k, 3) [N], [N m]."""
        contacts, (forces, torques) = list[ContactForce](), np.zeros((2, *motion.position.shape))
        for point in points:
            assert point.friction is not None
            force, velocity = point.force * point.normal + point.friction, np.zeros(3)
            for name, sign in zip(point.pair, (-1.0, 1.0), strict=True):
                if (row := self._rows.get(name)) is not None:  # no fixture, which rests
                    lever = point.position - motion.position[row]
                    velocity += sign * motion.velocity_at(row, point.position)
                    forces[row] += sign * force
                    torques[row] += sign * np.cross(lever, force)
            gap, mu = -point.depth - point.margin, self._contact.mu(point.pair)
            contacts.append(ContactForce(point.normal, force, gap, velocity, mu))
        return contacts, forces, torques
