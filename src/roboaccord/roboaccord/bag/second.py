"""The reference as a second robot, in the bag of a run: its motion, and how it is to look."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from roboaccord.bag import topics as names
from roboaccord.bag.content import Content
from roboaccord.bag.reader import BagRun, checked_run, run_of
from roboaccord.cdr import Status, decode_statuses, encode_statuses
from roboaccord.contract.errors import AccordError
from roboaccord.contract.trajectory import Trajectory
from roboaccord.description.materials import BLUE, GHOSTS, OPACITY, Colour, translucent


@dataclass(frozen=True)
class Look:
    """Hold how a second robot looks from a time on.

    Args:
        time: [s].
        opacity: 0 to 1; it falls as the horizon of the motion comes nearer.
        anew: how often it was reset past that.
        link: that is red; "" for none.
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
        """What its colours follow from."""
        return self.opacity, self.link

    def paint(self, urdf: str, colour: Colour = BLUE) -> str:
        """Return a description in the colours of the second robot."""
        return translucent(urdf, self.opacity, [self.link], colour)

    def encode(self, robot: str) -> bytes:
        """Return it as a message of `/diagnostics`."""
        values = {name: str(getattr(self, name)) for name in ("opacity", "anew", "link", "since")}
        status = Status(_name(robot), self.line, robot, values, int(bool(self.line)))
        return encode_statuses(self.time, [status])


@dataclass(frozen=True)
class SecondRun:
    """Hold a robot beside a first one: its motion, and how it looks from a time on.

    Args:
        trajectory, urdf: motion and description.
        looks: in order of time.
        name: of what made the motion, such as an engine.
        colour: red, green and blue, 0 to 1.
    """

    trajectory: Trajectory
    urdf: str
    looks: Sequence[Look] = (Look(),)
    name: str = names.REFERENCE
    colour: Colour = BLUE

    def painted(self, look: Look) -> str:
        """Return its description as it looks."""
        return look.paint(self.urdf, self.colour)

    def look(self, moment: float) -> Look:
        """Return how it looks at a time [s]: the link that is found in the end is red before."""
        at = bisect_right(self.looks, moment, key=lambda each: each.time)
        now, last = self.looks[max(at - 1, 0)], self.looks[-1]
        if not last.link or moment < last.since:
            return replace(now, link="", line="")
        return replace(now, link=last.link, line=last.line)


def decode_looks(data: bytes, robot: str) -> list[Look]:
    """Return how the second robot looks by a message of `/diagnostics`; nothing of others.

    Raises:
        AccordError: for a message that is not what it should be.
    """
    time, statuses = decode_statuses(data)
    return [_look(time, status) for status in statuses if status.name == _name(robot)]


def _look(time: float, status: Status) -> Look:
    try:
        opacity, since, anew = (float(status.values[name]) for name in ("opacity", "since", "anew"))
        return Look(time, opacity, int(anew), status.values["link"], since, status.message)
    except (KeyError, ValueError):
        raise AccordError(f"{status.name} has values {dict(status.values)!r}") from None


def read_pair(bag: Path) -> tuple[BagRun, SecondRun | None]:
    """Read a run as `read_run` does, and the second robot where the bag holds one."""
    content = Content.of(bag)
    run = checked_run(content)
    topic = f"{content.namespace}/{names.REFERENCE_STATES}"
    if not content.raw(topic):
        return run, None
    within = f"{content.namespace}/{names.REFERENCE}".strip("/")
    motion = run_of(replace(content, custom={**content.custom, "robot": within})).trajectory
    looks = list[Look]()
    for data in content.raw(f"{content.namespace.rpartition('/')[0]}/{names.DIAGNOSTICS}"):
        for look in decode_looks(data, run.robot):
            if looks and look.time < looks[-1].time:  # the run was reset
                looks.clear()
            looks.append(look)
    return run, SecondRun(motion, run.urdf, looks or (Look(),))


def beside(runs: Sequence[BagRun], urdfs: Sequence[str]) -> list[SecondRun]:
    """Return the further runs as robots beside the first one, each in a colour of its own."""
    each = zip(runs[1:], urdfs, names_of(runs)[1:], strict=True)
    return [
        SecondRun(run.trajectory, urdf, name=name, colour=GHOSTS[i % len(GHOSTS)])
        for i, (run, urdf, name) in enumerate(each)
    ]


def names_of(runs: Sequence[BagRun]) -> list[str]:
    """Return names that distinguish runs: their engines, or else their controllers."""
    engines = [run.engine or f"run {i + 1}" for i, run in enumerate(runs)]
    controllers = [run.scenario.get("controller", {}).get("name", "") for run in runs]
    apart = len(set(engines)) == 1 and len(set(controllers)) == len(runs)
    return controllers if apart else engines


def _name(robot: str) -> str:
    return f"{robot}: {names.REFERENCE}"
