"""The equations of a robot along a motion, computed anew only where a robot differs from another.

Hypotheses change one link or joint each, and hundreds of them are tried: a link that is the same
and moves the same needs the same efforts. Which robots are kept may be tuned; results are the same.
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
class Along:
    """A robot along a motion.

    Args:
        body: the robot.
        frames: motions of its links.
        loads: efforts (k, n) that each link needs.
    """

    body: LogBody
    frames: Mapping[str, FrameMotion]
    loads: Mapping[str, Array]

    @classmethod
    def of(cls, body: LogBody, motion: Array, like: Along | None = None) -> Along:
        """Return a robot along a motion.

        Args:
            body: the robot.
            motion: positions, rates and accelerations (3, k, n), of the log's clock.
            like: another robot along the same motion.
        """
        q, qd, qdd = motion
        fast = 1.0 + body.clock
        frames = like.same_frames(body) if like else {}
        moved = link_motions(
            body.tree, body.joints, body.gravity, q - body.zero, fast * qd, fast**2 * qdd, frames
        )
        same = {link.name: link for link in like.body.tree.links} if like else {}
        loads = {}
        for link in body.tree.links:
            if like and link.name in frames and same[link.name] is link:
                loads[link.name] = like.loads[link.name]
            else:
                add_efforts(load := np.zeros(q.shape), [link], moved)
                loads[link.name] = load
        return cls(body, moved, loads)

    def same_frames(self, body: LogBody) -> dict[str, FrameMotion]:
        """Return the motions of links that move in another robot as in this one."""
        like = self.body
        if like.clock != body.clock or not np.array_equal(like.gravity, body.gravity):
            return {}
        zeros = {joint for joint, off in zip(like.joints, like.zero != body.zero) if off}
        other = {like.tree.links[0].name: False}
        for a, b in zip(like.tree.joints, body.tree.joints, strict=True):
            other[a.child] = other[a.parent] or a.name in zeros or not _alike(a, b)
        return {name: frame for name, frame in self.frames.items() if not other[name]}

    def efforts(self, qdd: Array) -> Array:
        """Return the efforts (k, n) of all links, with rotors of the file, at accelerations."""
        rotors = rotors_of(self.body.tree, self.body.joints) * qdd
        return np.asarray(rotors + sum(self.loads.values()))


def _alike(a: Joint, b: Joint) -> bool:
    parts = ("position", "rotation", "axis")
    return a is b or all(np.array_equal(getattr(a, x), getattr(b, x)) for x in parts)
