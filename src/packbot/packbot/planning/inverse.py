"""Inverse kinematics in closed form: finger tips at a point, camera aimed at a point.

Turret, shoulder, elbow 1 and elbow 2 place the finger tips; the wrist only rolls the hand. The
turret turns the plane of the arm through the point. In this plane, the pitch of the hand determines
where elbow 2 must be, and shoulder and elbow 1 follow by the law of cosines. If no pitch is given,
many are tried. Of all poses without contact, the one that is reached soonest is returned.

PITCHES may be tuned. test_packbot_kinematics checks the poses by forward kinematics.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from roboaccord.contract import AccordError, Array
from roboaccord.scenario import Setup

from packbot.contact.clearance import Clearance
from packbot.model.arm import Kinematics, Placement
from packbot.model.parameters import LENS, PackbotParameters

# Number of pitches of the hand that are tried, half a degree apart: elbow 2 moves by 7 mm from one
# to the next, less than the margin of 20 mm. The ends of the possible pitches are added.
PITCHES = 720
ROUND_OFF = 1e-9  # a cosine, and a reach in m, may exceed its limit by that through rounding
LIMIT_ROUND_OFF = 1e-11  # rad; an angle may exceed a joint's limit by that through rounding


@dataclass(frozen=True)
class Inverse:
    """Finder of joint angles that put the finger tips at a point.

    Args:
        parameters: parameters of the robot.
        clearance: distances by which poses in contact are refused.
    """

    parameters: PackbotParameters
    clearance: Clearance

    def solve(
        self, target: Array, *, near: Array, pitch: float | None = None, margin: float = 0.0
    ) -> Array:
        """Return the pose (7,) [rad] with the finger tips at a point that is reached soonest.

        Args:
            target: point in the world (3,) [m].
            near: present angles (7,) [rad]; those of tilt, pan and wrist are kept.
            pitch: angle of the hand above the horizontal [rad]; None for any.
            margin: distance that the pose keeps from contact [m].

        Raises:
            AccordError: if the point is out of reach, or every pose that reaches it touches.
        """
        check_reach(self.parameters, target)
        solutions = self.solutions(target, pitch)
        words = _in_words(target)
        if not len(solutions):
            within = f"the joints' limits{'' if pitch is None else f' and a hand at {pitch:g} rad'}"
            raise AccordError(f"no pose has the finger tips at {words} m within {within}")
        q = np.tile(near, (len(solutions), 1))
        q[:, :4] = solutions
        times = np.abs(q - near) / self.parameters.of_joints("speed_limit")
        order = np.lexsort((times.sum(axis=1), times.max(axis=1)))
        for i in order:
            if not self.clearance.touches(q[i], margin):
                return np.asarray(q[i])
        pair, distance = self.clearance.closest(q[order[0]])
        a, b = self.clearance.pair_names(pair)
        gap = f"{1e3 * abs(distance):.1f} mm {'apart' if distance > 0.0 else 'in each other'}"
        failure = f"is closer than {1e3 * margin:g} mm to touching; the first has {a} and {b} {gap}"
        raise AccordError(f"every pose with the finger tips at {words} m {failure}")

    def solutions(self, target: Array, pitch: float | None = None) -> Array:
        """Return turret, shoulder and elbows (k, 4) [rad] within limits; contact is not checked.

        Args:
            target: point in the world (3,) [m].
            pitch: pitch of the hand [rad]; None for `PITCHES` of them.
        """
        # The target from the shoulder. The plane of the arm is beside the turret's axis.
        p = self.parameters
        x, y, height = target - np.array([p.base_x, 0.0, p.base_z + p.turret_d])
        aside = p.shoulder_d - p.elbow1_d  # distance of the arm's plane from the turret's axis [m]
        ahead_squared = x * x + y * y - aside * aside
        if ahead_squared < 0.0:
            return np.empty((0, 4))
        ahead = np.sqrt(ahead_squared)
        poses = []
        for r in (ahead, -ahead):  # the arm reaches forward, or over its back
            turret = np.arctan2(y, x) - np.arctan2(aside, r)
            pitches = self._candidate_pitches(r, height) if pitch is None else np.array([pitch])
            in_plane = self._planar_solutions(float(r), float(height), pitches)
            poses.append(np.column_stack([np.full(len(in_plane), turret), in_plane]))
        # Angles modulo 2 pi, of those within the limits.
        lower, upper = p.limits[:, :4]
        q = np.concatenate(poses)
        q = lower + (q - lower + LIMIT_ROUND_OFF) % (2.0 * np.pi) - LIMIT_ROUND_OFF
        return np.asarray(np.clip(q[(q <= upper + LIMIT_ROUND_OFF).all(axis=1)], lower, upper))

    def _candidate_pitches(self, r: float, height: float) -> Array:
        """Return pitches of the hand to try (k,) [rad]: a grid, and the ends of possible pitches.

        At an end, shoulder, elbow 1 or elbow 2 is at a limit. The possible pitches are intervals
        between these ends; an interval can be a single point, which the grid would miss. Points of
        the arm's plane are complex numbers: ahead (real) and up (imaginary).

        Args:
            r, height: target from the shoulder, ahead and up [m].
        """
        target = complex(r, height)
        # The grid begins at the only pitch of a fully stretched arm.
        grid = np.angle(target) + 2.0 * np.pi / PITCHES * np.arange(PITCHES)
        a, b, hand = lengths_of(self.parameters)  # of links 1 and 2, and to the finger tips
        shoulders, elbows1, elbows2 = self.parameters.limits[:, 1:4].T  # two limits of each
        pitches = list[float]()  # at limits
        for shoulder in shoulders:
            pitches += _second_directions(target - a * np.exp(1j * shoulder), b, hand)
        for elbow1 in elbows1:
            pitches += _second_directions(target, abs(a + b * np.exp(1j * elbow1)), hand)
        for elbow2 in elbows2:
            forearm = b + hand * np.exp(1j * elbow2)  # link 2 and the hand as one link
            turn = elbow2 - float(np.angle(forearm))
            pitches += [end + turn for end in _second_directions(target, a, abs(forearm))]
        return np.concatenate([grid, pitches])

    def _planar_solutions(self, r: float, height: float, pitches: Array) -> Array:
        """Return shoulder, elbow 1 and elbow 2 (k, 3) [rad], by the law of cosines.

        Args:
            r, height: target from the shoulder, ahead and up [m].
            pitches: pitches of the hand [rad].
        """
        # Elbow 2 from the shoulder, ahead and up: at the distance of the hand from the target.
        a, b, hand = lengths_of(self.parameters)  # of links 1 and 2, and to the finger tips
        elbow2_r = r - hand * np.cos(pitches)
        elbow2_z = height - hand * np.sin(pitches)
        cosine = (elbow2_r * elbow2_r + elbow2_z * elbow2_z - a * a - b * b) / (2.0 * a * b)
        is_reached = np.abs(cosine) <= 1.0 + ROUND_OFF
        direction = np.arctan2(elbow2_z, elbow2_r)[is_reached]  # of elbow 2 above the horizontal
        pitches = pitches[is_reached]
        bend = np.arccos(np.clip(cosine[is_reached], -1.0, 1.0))
        branches = []  # elbow up and elbow down
        for elbow1 in (bend, -bend):
            shoulder = direction - np.arctan2(b * np.sin(elbow1), a + b * np.cos(elbow1))
            branches.append(np.column_stack([shoulder, elbow1, pitches - shoulder - elbow1]))
        return np.concatenate(branches)


def check_reach(p: PackbotParameters, target: Array) -> None:
    """Refuse a point (3,) [m] that is farther from the shoulder than the links are long.

    Raises:
        AccordError: naming both lengths.
    """
    x, y, height = target - np.array([p.base_x, 0.0, p.base_z + p.turret_d])
    ahead = np.sqrt(max(x * x + y * y - (p.shoulder_d - p.elbow1_d) ** 2, 0.0))
    distance, reach = float(np.hypot(ahead, height)), sum(lengths_of(p))
    if distance > reach + ROUND_OFF:
        why = f"it is {distance:.3f} m from the shoulder, and the arm reaches {reach:.3f} m"
        raise AccordError(f"no pose has the finger tips at {_in_words(target)} m: {why}")


def lengths_of(p: PackbotParameters) -> tuple[float, float, float]:
    """Return the lengths of links 1 and 2, and from elbow 2 to the finger tips [m]."""
    return p.shoulder_a, p.elbow1_a, p.wrist_x + p.gripper_length


def _in_words(target: Array) -> str:
    """Return a point for messages."""
    return "(" + ", ".join(f"{x:g}" for x in target) + ")"


def _second_directions(target: complex, first: float, second: float) -> list[float]:
    """Return the directions [rad] of the second of two links that together reach a point.

    Args:
        target: the point, as a complex number [m].
        first, second: lengths of the links [m].
    """
    cosine = (abs(target) ** 2 - first**2 - second**2) / (2.0 * first * second)
    if abs(cosine) > 1.0 + ROUND_OFF:
        return []
    bend = float(np.arccos(np.clip(cosine, -1.0, 1.0)))
    turns = (bend, -bend)
    return [float(np.angle(target / (first + second * np.exp(1j * t)))) + t for t in turns]


def looking(setup: Setup, clearance: Clearance, q: Array, target: Array, margin: float) -> Array:
    """Return angles (7,) [rad] with tilt and pan turned so that the camera looks at a point.

    Args:
        setup: robot and scenario.
        clearance: of the setup.
        q: present angles (7,) [rad]; the solution nearer to them is tried first.
        target: the point in the world (3,) [m].
        margin: distance that the pose keeps from contact [m].

    Raises:
        AccordError: if the camera cannot be turned there.
    """
    angles = aim(setup.parameters, Kinematics(setup).placement("link3", q), target)
    for tilt, pan in sorted(angles.tolist(), key=lambda pair: abs(pair[0] - q[4])):
        turned = np.array([*q[:4], tilt, pan, q[6]])
        if not clearance.touches(turned, margin):
            return turned
    raise AccordError("the camera cannot be turned to the target in the pose that reaches it")


def aim(p: PackbotParameters, link3: Placement, target: Array) -> Array:
    """Return tilts and pans (k, 2) [rad] within limits by which the camera looks at a point.

    The lens is on pan's axis as seen from above, so that the line of sight stays at one height h
    over the tilt axis: in link 3, tilt brings the point to that height, and pan turns to it.

    Args:
        p: parameters.
        link3: where `link3_link` is.
        target: the point in the world (3,) [m].
    """
    x, y, z = link3.rotation.T @ (target - link3.position) - np.array([p.tilt_x, 0.0, p.tilt_z])
    height, distance = p.pan_d + LENS[2], float(np.hypot(x, z))
    if distance < height:
        return np.empty((0, 2))
    tilts = np.array([1.0, -1.0]) * np.arccos(height / distance) - np.arctan2(x, z)
    tilts = (tilts + np.pi) % (2.0 * np.pi) - np.pi
    pans = np.arctan2(y, np.cos(tilts) * x + np.sin(tilts) * z)
    pairs = np.column_stack([tilts, pans])
    lower, upper = p.limits[:, 4:6]
    return np.asarray(pairs[((lower <= pairs) & (pairs <= upper)).all(axis=1)])
