"""A robot in motion, for films and pages: poses of its links, paths and speeds over time.

Poses follow from the recorded motion by forward kinematics; shapes are those of the core's `Scene`
(test_view.py). What a view follows is an aim, a point on a link: the robot's own `Robot.aim`, else
for an arm its tip (`MovingRobot.tip`), else the centre of mass.

DIRECTIONS and MIN_PATH_SAMPLES trade accuracy for speed and may be tuned.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from roboaccord.bag import with_continuous_signs
from roboaccord.contract import STATE_ARRAYS, AccordError, Aim, Array, Trajectory, check_known
from roboaccord.description import Scene, Shape, Surface, Tree
from roboaccord.numerics import quaternion_matrix, quaternion_product, turn_quaternion

# Number of directions in which outermost vertices are searched, evenly on a Fibonacci sphere. None
# is farther than 11 degrees from one of them, so no extent is more than 1.9 % short.
DIRECTIONS = 192
GOLDEN_ANGLE = math.pi * (3.0 - math.sqrt(5.0))  # rad; golden angle between neighbouring directions
# Smallest number of samples by which the longest path is chosen; a path of 300 chords is a few per
# mille short.
MIN_PATH_SAMPLES = 300
# s; half of the time between two poses whose difference gives a speed: round-off of times up to
# 1000 s, 1e-13 s, is 1e-7 of it.
HALF_INTERVAL = 1e-6


class MovingRobot:
    """A robot with the poses of its links in a motion.

    Args:
        scene: shapes of the robot.
        motion: motion of its joints and base, and of free bodies.
        bodies: surfaces of the free bodies, each in its body's frame.

    Attributes:
        scene, motion: the arguments.
        shapes: of the robot, then of the bodies, whose indices follow those of the links.
        origins, turns: positions (t, k, 3) [m] and rotation matrices (t, k, 3, 3) of the links,
            then of the bodies.

    Raises:
        AccordError: if the motion lacks a joint of the description.
    """

    def __init__(self, scene: Scene, motion: Trajectory, bodies: Sequence[Surface] = ()) -> None:
        for joint in scene.tree.moving:
            if joint.name not in motion.joints:
                raise AccordError(f"the motion has no joint {joint.name} of {scene.name}")
        self.scene, self.motion = scene, motion
        self._bodies = list[str]()
        pose = motion.q, motion.position, motion.orientation
        self.shapes = scene.shapes
        self.origins, self.turns = scene.tree.forward(motion.joints, *pose)
        if motion.bodies is not None:
            if motion.bodies.shape[1] < len(bodies):
                raise AccordError("runs with different free bodies are shown one by one")
            links = enumerate(bodies, len(scene.tree.links))
            self._bodies = [body.frame for body in bodies]
            self.shapes += tuple(Shape(i, s.vertices, s.faces, s.colour) for i, s in links)
            turns = quaternion_matrix(motion.bodies[:, :, 3:7])
            self.origins = np.concatenate([self.origins, motion.bodies[:, :, :3]], axis=1)
            self.turns = np.concatenate([self.turns, turns], axis=1)

    def path(self, aim: Aim | None = None) -> Array:
        """Return the path of the point of an aim, by default the centre of mass (t, 3) [m].

        Raises:
            AccordError: if neither a link of the description nor a body has its name.
        """
        tree = self.scene.tree
        if aim is None:
            count = len(tree.links)
            return tree.centres(self.origins[:, :count], self.turns[:, :count])
        links = [*(link.name for link in tree.links), *self._bodies]
        check_known(f"{self.scene.name} has no link ", aim.link, links)
        i = links.index(aim.link)
        return np.asarray(self.origins[:, i] + self.turns[:, i] @ aim.offset)

    def placed(self, shapes: Sequence[Shape], i: int) -> Array:
        """Return the vertices of shapes at sample i (v, 3) [m]."""
        turns, origins = self.turns[i].swapaxes(1, 2), self.origins[i]
        return np.concatenate([s.vertices @ turns[s.link] + origins[s.link] for s in shapes])

    def outlines(self, every: int = 1) -> Array:
        """Return the outermost vertices of all `shapes`, at each n-th sample (t, v, 3) [m]."""
        turns, origins = self.turns[::every].swapaxes(2, 3), self.origins[::every, None]
        shapes = self.shapes
        placed = [outline(s.vertices) @ turns[:, s.link] + origins[:, :, s.link] for s in shapes]
        return np.concatenate(placed, axis=1)

    def speeds(self, aim: Aim | None = None) -> Array:
        """Return the speed along `path` (t,) [m/s], from recorded velocities.

        It is the central difference of the path if all velocities were constant, so it is exactly 0
        at rest.
        """
        motion = self.motion
        # Of the base, in the world (t, 3); the twist is in the base's own frame.
        velocity = (quaternion_matrix(motion.orientation) @ motion.twist[:, :3, None])[..., 0]

        def shifted_path(time: float) -> Array:
            """Return where the point would be a small time [s] after each sample."""
            turns = np.array([turn_quaternion(time * spin) for spin in motion.twist[:, 3:]])
            q, position = motion.q + time * motion.qd, motion.position + time * velocity
            orientation = quaternion_product(motion.orientation.T, turns.T).T
            later = replace(motion, q=q, position=position, orientation=orientation)
            return MovingRobot(self.scene, later).path(aim)

        shift = shifted_path(HALF_INTERVAL) - shifted_path(-HALF_INTERVAL)
        return np.asarray(np.linalg.norm(shift, axis=1) / (2.0 * HALF_INTERVAL))

    def tip(self) -> Aim | None:
        """Return the point with the longest path, for a robot on a fixed base; else None.

        It serves as the aim of an arm, whose centre of mass shows little of its motion. Only
        vertices of the last links of its chains count.
        """
        motion, scene = self.motion, self.scene
        if motion.twist.any() or np.ptp(motion.position, axis=0).any() or not motion.qd.any():
            return None
        points = self.outlines(max(1, len(motion) // MIN_PATH_SAMPLES))
        # The link of each of these points, and the length of its path.
        counts = [len(outline(shape.vertices)) for shape in self.shapes]
        links = np.repeat([shape.link for shape in self.shapes], counts)
        lengths = np.linalg.norm(np.diff(points, axis=0), axis=2).sum(axis=0)
        lengths[~np.isin(links, last_links(scene.tree))] = 0.0
        longest = int(lengths.argmax())
        link = int(links[longest])
        # Of the point from the origin of its link, in the link's own frame.
        offset = (points[0, longest] - self.origins[0, link]) @ self.turns[0, link]
        name = scene.tree.links[link].name
        return Aim(f"tip of {name}", name, offset)


def outline(vertices: Array) -> Array:
    """Return the vertices (k, 3) outermost in any of DIRECTIONS: almost the convex hull."""
    if len(vertices) <= DIRECTIONS:
        return vertices
    number = np.arange(DIRECTIONS)
    # The Fibonacci sphere: equal steps in z, and the golden angle about it from one to the next.
    z, azimuth = 1.0 - (2.0 * number + 1.0) / DIRECTIONS, GOLDEN_ANGLE * number
    radius = np.sqrt(1.0 - z * z)
    outwards = np.column_stack([radius * np.cos(azimuth), radius * np.sin(azimuth), z])
    return np.asarray(vertices[np.unique((vertices @ outwards.T).argmax(axis=0))])


def last_links(tree: Tree) -> list[int]:
    """Return the links that a joint moves, and after which no joint moves another link."""
    moving = {joint.name for joint in tree.moving}
    body_of = {link.name: "" for link in tree.links}  # the moved link that each is fixed to
    for joint in tree.joints:  # parents first
        body_of[joint.child] = joint.child if joint.name in moving else body_of[joint.parent]
    inner = {"", *(body_of[joint.parent] for joint in tree.moving)}
    return [i for i, link in enumerate(tree.links) if body_of[link.name] not in inner]


def resample(trajectory: Trajectory, step: float) -> Trajectory:
    """Return a motion at every `step` [s] from its start, linear between samples."""
    start, stop = trajectory.time[0], trajectory.time[-1]
    time = start + step * np.arange(math.floor((stop - start) / step + 1e-6) + 1)

    def interpolated(values: Array) -> Array:
        """Return values (n, m), given at each sample, at the new times (t, m)."""
        columns = [np.interp(time, trajectory.time, column) for column in values.T]
        return np.column_stack(columns) if columns else np.empty((len(time), 0))

    def turned(quaternions: Array) -> Array:
        """Return quaternions (n, 4), given at each sample, at the new times (t, 4)."""
        # Quaternions q and -q are one rotation, but their mean is none.
        turns = interpolated(with_continuous_signs(quaternions))
        return np.asarray(turns / np.linalg.norm(turns, axis=1, keepdims=True))

    arrays: dict[str, Any] = {n: interpolated(getattr(trajectory, n)) for n in STATE_ARRAYS}
    arrays["orientation"] = turned(trajectory.orientation)
    if trajectory.bodies is not None:
        motions = [np.split(motion, (3, 7), axis=1) for motion in trajectory.bodies.swapaxes(0, 1)]
        between = [(interpolated(p), turned(q), interpolated(v)) for p, q, v in motions]
        arrays["bodies"] = np.stack([np.column_stack(parts) for parts in between], axis=1)
    return replace(trajectory, time=time, switches={}, wrench=None, **arrays)
