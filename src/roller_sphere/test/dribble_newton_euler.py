"""The dribbling carrier by Newton's and Euler's equations, apart from all code under test.

Every link of the description has its own accelerations, every joint its own reaction, the ground
and both contacts forces of their own: some hundred linear equations in as many unknowns. Nothing
is eliminated by hand, and nothing taken from the package but its parameters. A link's centre of
mass is its frame's origin, as in the description.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

UP = np.array([0.0, 0.0, 1.0])
SPHERES = ("roller_1_link", "roller_2_link")


def cross_matrix(a):
    """Return the matrix (3, 3) of a x."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


@dataclass(frozen=True, kw_only=True)
class Moving:
    """A link's origin, rotation, velocity and angular velocity in the world."""

    origin: np.ndarray
    rotation: np.ndarray
    velocity: np.ndarray
    omega: np.ndarray


def carry(parent, joint, q, rate):
    """Return the motion of a joint's child, and the joint's axis in the world."""
    turn = parent.rotation @ joint.rotation
    axis, arm = turn @ joint.axis, parent.rotation @ joint.position
    velocity, omega = parent.velocity, parent.omega
    if joint.kind == "prismatic":
        arm = arm + q * axis
        velocity = velocity + rate * axis
    else:
        K = cross_matrix(joint.axis)
        turn = turn @ (np.eye(3) + np.sin(q) * K + (1.0 - np.cos(q)) * K @ K)
        omega = omega + rate * axis
    return Moving(
        origin=parent.origin + arm, rotation=turn,
        velocity=velocity + np.cross(parent.omega, arm), omega=omega,
    ), axis  # fmt: skip


def solve(equations):
    """Return the unknowns by name, of linear equations: matrices (m, k) by unknown, right (m,)."""
    sizes = {name: np.shape(A)[1] for terms, _ in equations for name, A in terms.items()}
    places, count = {}, 0
    for name, size in sizes.items():
        places[name] = slice(count, count + size)
        count += size
    rows = np.zeros((count, count))
    top = 0
    for terms, right in equations:
        for name, A in terms.items():
            rows[top : top + len(right), places[name]] += A
        top += len(right)
    assert top == count, "as many equations as unknowns"
    x = np.linalg.solve(rows, np.concatenate([right for _, right in equations]))
    return {name: x[place] for name, place in places.items()}


class Dribble:
    """Ask for the accelerations of the dribbling carrier.

    Args:
        tree: of the description whose rollers slide.
        p: parameters.
        law: of a slip (3,) [m/s] the force on the ball over the load, and what adds to it [N].
    """

    def __init__(self, tree, p, law):
        self.p, self.law = p, law
        self.links = {link.name: link for link in tree.links}
        self.joints = tree.joints

    def move(self, ball, q, rates):
        """Return the motions of all links and the axes of all joints.

        Args:
            ball: its motion.
            q, rates: of the joints by name; without the slides, which contact tells.
        """
        moving = {"world": Moving(
            origin=np.zeros(3), rotation=np.eye(3), velocity=np.zeros(3), omega=np.zeros(3)
        ), "base_link": ball}  # fmt: skip
        axes, rates, reach = {}, dict(rates), self.p.radius + self.p.roller_radius
        for joint in self.joints:
            name, parent = joint.name, moving[joint.parent]
            at = q.get(name, 0.0)
            if name not in q:

                def gap(slid, joint=joint, parent=parent):
                    there, _ = carry(parent, joint, slid, 0.0)
                    return np.linalg.norm(there.origin - ball.origin) - reach

                at = brentq(gap, joint.lower, joint.upper, xtol=1e-17)
                there, axis = carry(parent, joint, at, 0.0)
                u = there.origin - ball.origin
                rates[name] = (ball.velocity - there.velocity) @ u / (axis @ u)
            moving[joint.child], axes[name] = carry(parent, joint, at, rates[name])
        return moving, axes, rates

    def find(self, ball, q, rates, effort):
        """Return the accelerations of omega, rollers and carrier (8,), and the loads (2,) [N].

        Args:
            ball: its motion; it rolls.
            q, rates: of rollers and carrier by name [m, rad, m/s, rad/s].
            effort: of every joint by name, the presses' among them [N, N m].
        """
        moving, axes, rates = self.move(ball, q, rates)
        normals, slips = [], []
        for name in SPHERES:
            roller = moving[name]
            u = (roller.origin - ball.origin) / np.linalg.norm(roller.origin - ball.origin)
            on_ball = ball.velocity + self.p.radius * np.cross(ball.omega, u)
            on_roller = roller.velocity - self.p.roller_radius * np.cross(roller.omega, u)
            normals.append(u)
            slips.append(on_ball - on_roller)
        rub = [self.law(slip) for slip in slips]
        found = solve(self._equations(moving, axes, rates, effort, normals, rub))
        joints = ("roller_1", "roller_2", "carrier_x", "carrier_y", "carrier_yaw")
        y = np.concatenate([found["alpha base_link"], *(found[f"{name}''"] for name in joints)])
        return y, np.concatenate([found["N1"], found["N2"]])

    def _inertia(self, name, moving):
        R = moving[name].rotation
        return R @ self.links[name].inertia @ R.T

    def _equations(self, moving, axes, rates, effort, normals, rub):
        """Return all equations: of links, joints, rolling and contact."""
        p, ball = self.p, moving["base_link"]
        forces = {name: {} for name in self.links}  # matrices of the unknown forces on each link
        torques = {name: {} for name in self.links}
        given = {name: np.zeros((2, 3)) for name in self.links}  # what else acts on it
        equations = []
        for joint in self.joints:
            equations += self._joint(joint, moving, axes[joint.name], rates[joint.name], effort)
            arm = moving[joint.child].origin - moving[joint.parent].origin
            f, t = f"f {joint.name}", f"t {joint.name}"
            forces[joint.child][f] = torques[joint.child][t] = np.eye(3)
            forces[joint.parent][f] = torques[joint.parent][t] = -np.eye(3)
            torques[joint.parent][f] = -cross_matrix(arm)
        forces["base_link"]["ground"] = np.eye(3)
        torques["base_link"]["ground"] = cross_matrix(-p.radius * UP)
        roll = cross_matrix(-p.radius * UP)  # a + alpha x (-r z) = 0
        equations.append(({"a base_link": np.eye(3), "alpha base_link": -roll}, np.zeros(3)))
        for name, load, u, (per_load, beside) in zip(SPHERES, ("N1", "N2"), normals, rub):
            for link, sign, arm in ((name, 1.0, -p.roller_radius), ("base_link", -1.0, p.radius)):
                force, lever = sign * (u - per_load), arm * cross_matrix(u)
                forces[link][load], torques[link][load] = force[:, None], (lever @ force)[:, None]
                given[link] += np.stack([-sign * beside, lever @ (-sign * beside)])
            apart = moving[name].velocity - ball.velocity
            right = -(apart @ apart) / (p.radius + p.roller_radius)
            equations.append(({f"a {name}": u[None], "a base_link": -u[None]}, np.array([right])))
        for name, link in self.links.items():
            if name == "world":
                continue
            inertia, omega = self._inertia(name, moving), moving[name].omega
            force, torque = given[name]
            newton = {f"a {name}": link.mass * np.eye(3)}
            euler = {f"alpha {name}": inertia}
            newton |= {unknown: -A for unknown, A in forces[name].items()}
            euler |= {unknown: -A for unknown, A in torques[name].items()}
            equations.append((newton, force - link.mass * p.gravity * UP))
            equations.append((euler, torque - np.cross(omega, inertia @ omega)))
        return equations

    def _joint(self, joint, moving, axis, rate, effort):
        """Return how the child accelerates, and what the motor does along the axis."""
        parent, child = moving[joint.parent], moving[joint.child]
        arm, w, sliding = child.origin - parent.origin, parent.omega, joint.kind == "prismatic"
        own = {f"{joint.name}''": -axis[:, None]}
        linear = {f"a {joint.child}": np.eye(3)}
        angular = {f"alpha {joint.child}": np.eye(3)}
        a, alpha = np.cross(w, np.cross(w, arm)), np.zeros(3)
        if joint.parent != "world":
            linear |= {
                f"a {joint.parent}": -np.eye(3), f"alpha {joint.parent}": cross_matrix(arm)
            }  # fmt: skip
            angular |= {f"alpha {joint.parent}": -np.eye(3)}
        if sliding:
            linear |= own
            a = a + 2.0 * np.cross(w, rate * axis)
        else:
            angular |= own
            alpha = np.cross(w, rate * axis)
        driven = {f"{'f' if sliding else 't'} {joint.name}": axis[None]}
        return [(linear, a), (angular, alpha), (driven, np.array([effort[joint.name]]))]
