"""Motion and appearance of the reference (the analytical model) as a second robot in a bag.

To add to its appearance, add a field with a default to `Look`, written in `encode` and read in
`_look`, which must accept older bags without it. Names of the values are in bags and stay. Colours
are those of description/materials.py; when it fades or is reset is decided in
crosscheck/companion.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from roboaccord.bag import topics as names
from roboaccord.bag.content import Content
from roboaccord.bag.reader import BagRun, checked_run, run_of
from roboaccord.cdr import Status, decode_statuses, encode_statuses
from roboaccord.contract.errors import AccordError
from roboaccord.contract.trajectory import Trajectory
from roboaccord.description.materials import BLUE, OPACITY, Colour, translucent


@dataclass(frozen=True)
class Look:
    """Appearance of the second robot from a time on.

    Args:
        time: [s].
        opacity: 0 to 1; it falls towards the horizon of the motion.
        anew: number of resets beyond that.
        link: red link; "" for none.
        since: when its error began to count [s].
        line: the cause, in one line.
    """

    time: float = 0.0
    opacity: float = OPACITY
    anew: int = 0
    link: str = ""
    since: float = 0.0
    line: str = ""

    @property
    def colours(self) -> tuple[float, str]:
        """What the colours depend on."""
        return self.opacity, self.link

    def paint(self, urdf: str, colour: Colour = BLUE) -> str:
        """Return a description in the colours of the second robot."""
        return translucent(urdf, self.opacity, [self.link], colour)

    def encode(self, robot: str) -> bytes:
        """Return the appearance as a message of `/diagnostics`."""
        values = {name: str(getattr(self, name)) for name in ("opacity", "anew", "link", "since")}
        status = Status(_name(robot), self.line, robot, values, int(bool(self.line)))
        return encode_statuses(self.time, [status])


def decode_looks(data: bytes, robot: str) -> list[Look]:
    """Return the second robot's appearances in a message of `/diagnostics`.

    Raises:
        AccordError: for a message that cannot be decoded.
    """
    time, statuses = decode_statuses(data)
    return [_look(time, status) for status in statuses if status.name == _name(robot)]


def _look(time: float, status: Status) -> Look:
    try:
        opacity, since, anew = (float(status.values[name]) for name in ("opacity", "since", "anew"))
        return Look(time, opacity, int(anew), status.values["link"], since, status.message)
    except (KeyError, ValueError):
        raise AccordError(f"{status.name} has values {dict(status.values)!r}") from None


def read_pair(bag: Path) -> tuple[BagRun, Trajectory | None, Sequence[Look]]:
    """Read a run as `read_run` does, and motion and appearance of the second robot, if any."""
    content = Content.of(bag)
    run = checked_run(content)
    topic = f"{content.namespace}/{names.REFERENCE_STATES}"
    if not content.raw(topic):
        return run, None, ()
    within = f"{content.namespace}/{names.REFERENCE}".strip("/")
    motion = run_of(replace(content, custom={**content.custom, "robot": within})).trajectory
    looks = list[Look]()
    for data in content.raw(f"{content.namespace.rpartition('/')[0]}/{names.DIAGNOSTICS}"):
        for look in decode_looks(data, run.robot):
            if looks and look.time < looks[-1].time:  # the run was reset
                looks.clear()
            looks.append(look)
    return run, motion, looks or (Look(),)


def _name(robot: str) -> str:
    return f"{robot}: {names.REFERENCE}"
