"""Compute the efforts that a motion needs, and reuse the parts that a changed robot shares.

The search for causes tries hundreds of robots that differ from the file in one link or joint each.
A link that has the same inertia and the same motion in two of them needs the same efforts, so these
are copied from the earlier robot instead of computed again. The results are the same as without.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from roboaccord.contract.state import Array
from roboaccord.description.inverse import FrameMotion, add_efforts, link_motions
from roboaccord.description.tree import Joint, rotors_of

from roboaccord_files.logs.body import LogBody


@dataclass(frozen=True)
class RobotMotion:
    """The motion of a robot over k samples: of its links, and the efforts that these need.

    Args:
        body: the robot, with n joints.
        frames: motion of each link's frame, by name.
        loads: efforts (k, n) that each link needs at the joints, by name [N m or N].
    """

    body: LogBody
    frames: Mapping[str, FrameMotion]
    loads: Mapping[str, Array]

    @classmethod
    def of(cls, body: LogBody, motion: Array, similar: RobotMotion | None = None) -> RobotMotion:
        """Return the motion of a robot.

        Args:
            body: the robot.
            motion: positions, rates and accelerations (3, k, n), in the time of the log's clock.
            similar: another robot with the same positions, whose results are reused.
        """
        q, qd, qdd = motion
        # Rates and accelerations in true time, of which a fast clock counts 1 + clock seconds a
        # second.
        clock_rate = 1.0 + body.clock
        frames = similar.same_frames(body) if similar else {}
        in_true_time = q - body.zero, clock_rate * qd, clock_rate**2 * qdd
        motions = link_motions(body.tree, body.joints, body.gravity, *in_true_time, frames)
        links_before = {link.name: link for link in similar.body.tree.links} if similar else {}
        loads = {}
        for link in body.tree.links:
            if similar and link.name in frames and links_before[link.name] is link:
                loads[link.name] = similar.loads[link.name]
            else:
                loads[link.name] = np.zeros(q.shape)
                add_efforts(loads[link.name], [link], motions)
        return cls(body, motions, loads)

    def same_frames(self, body: LogBody) -> dict[str, FrameMotion]:
        """Return the motions of the links that move in another robot exactly as in this one.

        Args:
            body: the other robot, of the same structure.
        """
        own = self.body
        if own.clock != body.clock or not np.array_equal(own.gravity, body.gravity):
            return {}
        shifted = {joint for joint, differs in zip(own.joints, own.zero != body.zero) if differs}
        # A link moves differently if its parent does, or if the joint between them differs.
        differs = {own.tree.links[0].name: False}
        for joint, other in zip(own.tree.joints, body.tree.joints, strict=True):
            is_changed = joint.name in shifted or not _have_same_geometry(joint, other)
            differs[joint.child] = differs[joint.parent] or is_changed
        return {name: frame for name, frame in self.frames.items() if not differs[name]}

    def efforts(self, qdd: Array) -> Array:
        """Return the efforts (k, n) of all links, and of the file's rotors at qdd (k, n)."""
        rotors = rotors_of(self.body.tree, self.body.joints) * qdd
        return np.asarray(rotors + sum(self.loads.values()))


def _have_same_geometry(one: Joint, other: Joint) -> bool:
    """Return whether two joints have the same origin and axis."""
    fields = ("position", "rotation", "axis")
    return one is other or all(np.array_equal(getattr(one, f), getattr(other, f)) for f in fields)
