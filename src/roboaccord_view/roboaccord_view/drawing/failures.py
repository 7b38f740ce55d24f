"""Joints that fail in a motion: where they are on the robot, and the lines about them.

`failures` reads faults from the events of a motion and finds the shape around each joint, which is
drawn in red. Films and pages take their lines from `failure_lines`; the words may be changed.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from roboaccord.contract import FOUND, IDENTITY, REFUSED, Array, Event, fault_of
from roboaccord.description import Scene

# m; distance by which a joint may lie outside of its casing, for meshes are not exact. A prism of
# 12 sides is 1.7 mm inside of its cylinder of 50 mm.
CASING_TOLERANCE = 2e-3
# Keeps the normal of a polygon without area from a division by 0: above the smallest normal float,
# 2e-308.
MIN_NORM = 1e-300


@dataclass(frozen=True)
class Failure:
    """A joint that fails.

    Args:
        joint, kind: name of the joint, and kind of its fault.
        time: time of the fault [s].
        link: index of the link that the joint moves; its origin is the joint.
        shape: index of the shape that is the joint's casing.
    """

    joint: str
    kind: str
    time: float
    link: int
    shape: int

    @property
    def name(self) -> str:
        """Joint and kind, in words."""
        return f"{self.joint} {self.kind}"


def failures(scene: Scene, events: Sequence[Event]) -> list[Failure]:
    """Return the joints of a scene that fail by the events of a motion."""
    child = {joint.name: joint.child for joint in scene.tree.moving}
    links = [link.name for link in scene.tree.links]
    faults = [fault for fault in map(fault_of, events) if fault and fault.joint in child]
    failed = list[Failure]()
    for fault in faults:
        link, shape = links.index(child[fault.joint]), casing(scene, fault.joint)
        failed.append(Failure(fault.joint, fault.kind, fault.time, link, shape))
    return failed


def casing(scene: Scene, joint: str) -> int:
    """Return the index of the shape around a joint: the smallest on its two links that contains it.

    If none does, it is the nearest one.
    """
    tree = scene.tree
    failed = next(candidate for candidate in tree.moving if candidate.name == joint)
    names = [link.name for link in tree.links]
    parent, child = names.index(failed.parent), names.index(failed.child)
    q = np.zeros(len(tree.moving))
    origins, turns = tree.forward(tuple(j.name for j in tree.moving), q, np.zeros(3), IDENTITY)

    def rank(index: int) -> tuple[bool, float, float]:
        """Order shapes: of the two links first, then by distance of the joint, then by size."""
        shape = scene.shapes[index]
        point = (origins[child] - origins[shape.link]) @ turns[shape.link]
        if shape.link not in (parent, child):
            return True, math.inf, math.inf
        height = max(_height(point, shape.vertices[list(face)]) for face in shape.faces)
        return False, max(height, CASING_TOLERANCE), float(np.prod(np.ptp(shape.vertices, 0)))

    return min(range(len(scene.shapes)), key=rank)


def _height(point: Array, ring: Array) -> float:
    """Return the height [m] of a point over a polygon, counter-clockwise seen from above."""
    normal = np.cross(ring, np.roll(ring, -1, axis=0)).sum(axis=0)
    return float((point - ring[0]) @ normal / max(float(np.linalg.norm(normal)), MIN_NORM))


def failure_lines(
    failed: Sequence[Failure], findings: Sequence[Event], moment: float
) -> Iterator[str]:
    """Yield a line for each joint that has failed by a time, or was found to have failed.

    Args:
        failed: joints that fail in the motion.
        findings: what the controller has detected, as events.
        moment: the time [s].
    """
    past = [finding for finding in findings if finding.time <= moment]
    verdicts = {finding.subject: finding for finding in past if finding.kind.startswith(FOUND)}
    for failure in failed:
        if failure.time <= moment:
            line = f"{failure.name} at {failure.time:.2f} s"
            finding = verdicts.pop(failure.joint, None)
            if finding and finding.time >= failure.time:
                verdict = finding.kind.removeprefix(FOUND)
                word = "found" if verdict == failure.kind else verdict
                line += f", {word} at {finding.time:.2f} s"
            yield line
    for finding in verdicts.values():
        verdict = finding.kind.removeprefix(FOUND)
        yield f"{finding.subject} healthy, but found {verdict} at {finding.time:.2f} s"
    for finding in past:
        if finding.kind == REFUSED:
            reason = finding.subject.replace("_", " ")
            yield f"target refused at {finding.time:.2f} s: {reason}"
