"""Motion and appearance of the reference (the analytical model) as a second robot in a bag.

While an engine simulates a robot, the reference may simulate the same run. Viewers then show its
robot beside the engine's, translucent. It fades as the motions diverge; a link turns red where an
error is found; and it is reset to the engine's state when the motions can no longer be compared
(crosscheck/companion.py). Its motion is recorded in topics of its own, and its appearance (`Look`)
as messages of `/diagnostics`; `read_pair` reads both from a bag, the recording of a run.

A new field of `Look` needs a default, and `_look_in` must accept older bags without it. The names
of values in messages (opacity, anew, link, since) are in users' bags, and stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from roboaccord.bag import topics as names
from roboaccord.bag.content import Content
from roboaccord.bag.reader import BagRun, checked_run, run_of
from roboaccord.cdr import Status, decode_statuses, encode_statuses
from roboaccord.contract import AccordError, Trajectory
from roboaccord.description.materials import BLUE, OPACITY, Colour, translucent


@dataclass(frozen=True)
class Look:
    """Appearance of the second robot, from a time on.

    Args:
        time: from which on it has this appearance [s].
        opacity: 0 to 1; it falls until the horizon, the time beyond which motions cannot be
            compared, because small differences have grown too large.
        reset_count: number of times that it was reset at the horizon; `anew` in messages.
        link: name of the link that is red; "" for none.
        since: time at which the error of that link became significant [s].
        line: the cause of the error, in one line.
    """

    time: float = 0.0
    opacity: float = OPACITY
    reset_count: int = 0
    link: str = ""
    since: float = 0.0
    line: str = ""

    @property
    def colours(self) -> tuple[float, str]:
        """Opacity and red link, on which the colours depend."""
        return self.opacity, self.link

    def paint(self, urdf: str, colour: Colour = BLUE) -> str:
        """Return a description in the colours of the second robot."""
        return translucent(urdf, self.opacity, [self.link], colour)

    def encode(self, robot: str) -> bytes:
        """Return the appearance as a message of `/diagnostics`."""
        values = {"opacity": str(self.opacity), "anew": str(self.reset_count)}
        values |= {"link": self.link, "since": str(self.since)}
        level = int(bool(self.line))  # of diagnostic_msgs: 0 for OK, 1 for a warning
        status = Status(_status_name(robot), self.line, robot, values, level)
        return encode_statuses(self.time, [status])


def decode_looks(data: bytes, robot: str) -> list[Look]:
    """Return the second robot's appearances in a message of `/diagnostics`.

    Raises:
        AccordError: for a message that cannot be decoded.
    """
    time, statuses = decode_statuses(data)
    return [_look_in(status, time) for status in statuses if status.name == _status_name(robot)]


def _look_in(status: Status, time: float) -> Look:
    """Return the appearance in a status from a time on [s], or refuse one with other values."""
    values = status.values
    try:
        return Look(
            time=time,
            opacity=float(values["opacity"]),
            reset_count=int(float(values["anew"])),
            link=values["link"],
            since=float(values["since"]),
            line=status.message,
        )
    except (KeyError, ValueError):
        raise AccordError(f"{status.name} has values {dict(values)!r}") from None


def read_pair(bag: Path) -> tuple[BagRun, Trajectory | None, Sequence[Look]]:
    """Return a run as `read_run` does, with motion and appearances of the second robot, if any.

    Topics of the robot R are below the namespace `/R`, those of the second one below `/R/reference`
    with the same names. The namespace of a bag follows from the robot in its custom data, so that
    the second robot is read like a first one, as the robot `R/reference`.
    """
    content = Content.of(bag)
    run = checked_run(content)
    if not content.raw(f"{content.namespace}/{names.REFERENCE_STATES}"):
        return run, None, ()
    second_robot = f"{content.namespace}/{names.REFERENCE}".strip("/")
    second_content = replace(content, custom={**content.custom, "robot": second_robot})
    motion = run_of(second_content).trajectory
    looks = list[Look]()
    enclosing_namespace = content.namespace.rpartition("/")[0]  # above /R: "" for most bags
    for data in content.raw(f"{enclosing_namespace}/{names.DIAGNOSTICS}"):
        for look in decode_looks(data, run.robot):
            if looks and look.time < looks[-1].time:  # the run was reset
                looks.clear()
            looks.append(look)
    return run, motion, looks or [Look()]


def _status_name(robot: str) -> str:
    """Return the name of the status that has the appearance."""
    return f"{robot}: {names.REFERENCE}"
