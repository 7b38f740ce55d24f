"""Hypotheses on how an engine deviates from our equations: in parameters, or in its data path.

To let a parameter be off, add its quantity to OF_LINKS, OF_JOINTS or GROUND (engines/twin.py), or a
function to RECORDED and its name to `hypotheses`; with a unit in UNITS, unless it is a share. An
error without a size is yielded by `mixes`. PROBE, MOST_LATE, MOST_STEPS, SHOWN and BEYOND may be
tuned. test_naming plants errors and checks their names.

A parameter p that an engine has off by s makes a tick end off by s g, where g is how our own end of
the tick moves with p. So the slopes of all hypotheses on a few ticks name what is off, by
regression (naming.py), and the bound of a level over a slope is the smallest size that it would
have found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import combinations
from typing import Annotated, Any, NamedTuple, TypeVar

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.results import Quantity
from roboaccord.contract.state import Array
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.ticks import Index, by_group, difference, predicted
from roboaccord.engines.twin import EVERY, GROUND, OF_FEET, OF_JOINTS, OF_LINKS, UPWARDS, Twin
from roboaccord.numerics.ranking import ranked
from roboaccord.numerics.rotations import quaternion_matrix
from roboaccord.simulators.base import Simulator

PROBE = 1e-4  # by which a parameter is changed
PROBES = {"armature": 1e-7}  # of which light links have little
MOST_LATE = 3  # ticks
MOST_STEPS = 10
LIMITED, ALIKE = 2, 0.02  # rounds in which an effort limit is found; how far it may scatter
FEWEST = 3  # ticks in which a limit must act alike: of one alone, any effort would be the limit
UNSEEN = 1e-6  # of the effect of a quantity's other axes
SHOWN = 10  # parameters of a resolution
UNITS = {
    "damping": "N m s/rad", "dry friction": "N m", "armature": "kg m^2", "centre": "m",
    "origin": "m", "zero": "rad", "delay": "ticks", "lag": "ticks",
}  # fmt: skip
AXES = {"centre": ("x", "y", "z"), "inertia": ("xx", "xy", "xz", "yy", "yz", "zz")}
AXES["gravity"] = AXES["origin"] = AXES["axis"] = AXES["centre"]
ZERO = "zero"  # of a joint's position, as it is recorded


class Hypothesis(NamedTuple):
    """Name a parameter: a quantity, its joint or link, and the axis or component of it."""

    quantity: str
    where: str = ""
    axis: int = 0

    @property
    def whole(self) -> Hypothesis:
        """The quantity of which it may be one of several components."""
        return self._replace(axis=0)

    @property
    def unit(self) -> str:
        """Unit of its sizes; 1 for parts of the parameter."""
        return UNITS.get(self.quantity, "1")

    @property
    def place(self) -> str:
        """What `where` names."""
        return "joint" if self.quantity in (*OF_JOINTS, ZERO) else "link"

    def sized(self, size: float, form: str = "+.2g") -> str:
        """Return a size in words."""
        return f"{100 * size:{form}} %" if self.unit == "1" else f"{size:{form}} {self.unit}"

    def __str__(self) -> str:
        where = f"every {self.place}" if self.where == EVERY else self.where
        return f"{self.quantity} of {where}" if where else self.quantity


Sizes = Mapping[Hypothesis, float]


class Mix(NamedTuple):
    """Hold an error without a size: data in another order, sign, frame or tick.

    Args:
        quantity, where, text: as of `Name`.
        undo: makes of a recorded run what it was.
        late: physics steps at the start of each tick under the efforts of the tick before.
        more: physics steps that each tick has more.
    """

    quantity: str
    where: str
    text: str
    undo: Callable[[Trajectory], Trajectory] | None = None
    late: int = 0
    more: int = 0


def _clipped(run: Trajectory, later: int) -> Index:
    """Return the numbers of samples so many ticks later, as far as there are such."""
    return np.clip(np.arange(len(run)) + later, 0, len(run) - 1)


def delayed(run: Trajectory, ticks: float) -> Trajectory:
    """Return a run whose efforts act later by so many ticks, or by a part of one."""
    whole, part = divmod(ticks, 1.0)
    early, late = (_clipped(run, -int(whole) - i) for i in (0, 1))
    return replace(run, effort=(1.0 - part) * run.effort[early] + part * run.effort[late])


def unlagged(run: Trajectory, ticks: float) -> Trajectory:
    """Return a run whose rates were recorded so many ticks late, or a part of one, without that."""
    whole, part = divmod(ticks, 1.0)
    now, then = (_clipped(run, int(whole) + i) for i in (0, 1))
    qd, twist = ((1.0 - part) * x[now] + part * x[then] for x in (run.qd, run.twist))
    return replace(run, qd=qd, twist=twist)


def clipped(run: Trajectory, joint: int, limit: float) -> Trajectory:
    """Return a run whose efforts of a joint are clipped to a limit [N m]."""
    effort = run.effort.copy()
    effort[:, joint] = effort[:, joint].clip(-limit, limit)
    return replace(run, effort=effort)


RECORDED = {"delay": delayed, "lag": unlagged}


@dataclass(frozen=True)
class Predictor:
    """Predict ticks of an engine's run by our equations, with what may be off in the engine.

    Args:
        simulator: a twin, or a reference.
        run: of the engine.
        ticks: numbers of those to predict.
        rest: what time stepping explains of the residuals (k, 2 n + 12).
    """

    simulator: Simulator
    run: Trajectory
    ticks: Index
    rest: Array = field(default_factory=lambda: np.zeros(1))

    def residuals(self, sizes: Sizes | None = None, mix: Mix | None = None) -> Array:
        """Return the predicted ends of ticks less the recorded ones (k, 2 n + 12).

        Raises:
            AccordError: for a model that cannot be.
            RuntimeError: if the simulator cannot be restored; what it predicts next would be wrong.
        """
        run, sizes = mix.undo(self.run) if mix and mix.undo else self.run, sizes or {}
        fast = sizes.get(Hypothesis("clock"), 0.0)
        with ExitStack() as stack:
            simulator = self.simulator
            for one, size in sizes.items():
                if one.quantity in RECORDED:
                    run = RECORDED[one.quantity](run, size)
                elif one.quantity == ZERO:
                    turned = size * (np.array(run.joints) == one.where)
                    run = replace(run, q=run.q - turned)
                elif one.quantity != "clock":
                    simulator, run = self._change(stack, run, one, size)
            steps = (mix.late, mix.more) if mix else (0, 0)
            ends, _ = predicted(simulator, run, self.ticks, *steps)
        errors = difference(run.at(self.ticks + 1), ends)
        if fast:
            errors = errors + fast * difference(run.at(self.ticks), ends)
        return errors - self.rest

    def slopes(
        self,
        asked: Sequence[Hypothesis] | None = None,
        mix: Mix | None = None,
        at: Sizes | None = None,
    ) -> dict[Hypothesis, Array]:
        """Return how residuals change with parameters (k, 2 n + 12); none that do nothing.

        Args:
            asked: of which; of all where None.
            mix, at: what is in force.
        """
        found, at = {}, at or {}
        plain = self.residuals(at, mix)
        for one in self.hypotheses if asked is None else asked:
            size = PROBES.get(one.quantity, PROBE)
            try:
                changed = self.residuals({**at, one: at.get(one, 0.0) + size}, mix)
            except AccordError:  # a model that cannot be
                continue
            slope = (changed - plain) / size
            if np.isfinite(slope).all() and slope.any():
                found[one] = slope
        return found

    @cached_property
    def hypotheses(self) -> list[Hypothesis]:
        """Parameters: by joint, by link, and those of which there is one."""
        return [Hypothesis("delay"), Hypothesis("lag"), Hypothesis("clock"), *self._parameters()]

    def _parameters(self) -> Iterator[Hypothesis]:
        parts = parts_of(self.simulator)
        links = list(dict.fromkeys(name for part in parts for name in part.links))
        joints = list(dict.fromkeys(name for part in parts for name in part.joints))
        for quantities, places in ((OF_LINKS, links), (OF_JOINTS, joints)):
            every = [EVERY] if len(places) > 1 else []
            for quantity in quantities:
                for where in [*places, *(every if quantity not in AXES else [])]:
                    yield from components(Hypothesis(quantity, where))
        feet = list(dict.fromkeys(name for part in parts for name in part.feet))
        yield from (Hypothesis(quantity, where) for quantity in OF_FEET for where in feet)
        for where in joints:
            yield Hypothesis(ZERO, where)
        for quantity in ("gravity", *GROUND):
            yield from components(Hypothesis(quantity))

    def _change(
        self, stack: ExitStack, run: Trajectory, one: Hypothesis, size: float
    ) -> tuple[Simulator, Trajectory]:
        """Return simulator and run with a parameter off, until the stack is closed."""
        for part in parts_of(self.simulator):
            stack.enter_context(part.varied(*one, size))
        return self.simulator, run

    def mixes(self) -> Iterator[Mix]:
        """Yield the errors without a size."""
        run, step = self.run, self.simulator.physics_step
        for ticks in range(1, MOST_LATE + 1):
            many = f"{ticks} tick{'s' * (ticks > 1)}"
            text = f"efforts act {many} late, or states are recorded {many} late"
            yield Mix("delay", "", text, partial(delayed, ticks=ticks))
            text = f"rates are recorded {many} late"
            yield Mix("lag", "", text, partial(unlagged, ticks=ticks))
        for late in range(1, min(round((run.time[1] - run.time[0]) / step), MOST_STEPS)):
            text = f"efforts act {late} physics step{'s' * (late > 1)} late"
            yield Mix("delay", "", text, late=late)
        for more, word in ((-1, "few"), (1, "many")):
            yield Mix("clock", "", f"a tick has 1 physics step too {word}", more=more)
        yield from self._limits()
        for names, quantity, text in ORDERS:
            for i, joint in enumerate(run.joints):
                undo = partial(signed, names=names, joint=i)
                what = f"the {text} of {joint} has the other sign"
                yield Mix(f"sign of {quantity}", joint, what, undo)
            for i, j in combinations(range(len(run.joints)), 2):
                one, two = run.joints[i], run.joints[j]
                undo = partial(swapped, names=names, i=i, j=j)
                what = f"the {text} of {one} and {two} are interchanged"
                yield Mix(f"order of {quantity}", f"{one}, {two}", what, undo)
        if np.ptp(run.position, axis=0).any() or np.ptp(run.orientation, axis=0).any():
            yield Mix("frame", "base_link", "the base's velocities are in the world's axes", _owned)
            yield Mix("frame", "base_link", "the base's orientation is inverted", _inverted)

    def _limits(self) -> Iterator[Mix]:
        """Yield the effort limits of joints that act in each of the ticks.

        The efforts that would explain each tick are then the same, and smaller than those known.
        """
        if len(self.ticks) < FEWEST:
            return
        rates = slice(len(self.run.joints), 2 * len(self.run.joints))
        whole = self.residuals()[:, rates]
        for joint, name in enumerate(self.run.joints):
            run, plain, limit = self.run, whole, np.inf
            asked = np.abs(run.effort[self.ticks + 1, joint])
            for _ in range(LIMITED):
                probed = run.effort.copy()
                probed[:, joint] *= 1.0 + PROBE
                changed = replace(self, run=replace(run, effort=probed)).residuals()[:, rates]
                slope = (changed - plain) / PROBE
                size = np.maximum((slope**2).sum(axis=1), np.finfo(float).tiny)
                acts = np.minimum(asked, limit) * np.abs(1.0 - (slope * plain).sum(axis=1) / size)
                limit = float(np.median(acts))
                if np.ptp(acts) > ALIKE * asked.max() or limit >= asked.min():
                    break
                run = clipped(self.run, joint, limit)
                plain = replace(self, run=run).residuals()[:, rates]
            else:
                text = f"the effort of {name} is clipped at {limit:.4g} N m"
                yield Mix("effort limit", name, text, partial(clipped, joint=joint, limit=limit))


Samples = TypeVar("Samples", bound=Any)  # a dataclass with joints and columns by their order
ORDERS = (
    (("effort",), "effort", "effort"),
    (("qd",), "rate", "rate"),
    (("q", "qd"), "state", "position and rate"),
    (("q", "qd", "effort"), "axis", "position, rate and effort"),
)


def signed(run: Samples, names: Sequence[str], joint: int) -> Samples:
    """Return samples with some columns of a joint in the other sign."""
    sign = np.ones(len(run.joints))
    sign[joint] = -1.0
    return replace(run, **{name: sign * getattr(run, name) for name in names})


def swapped(run: Samples, names: Sequence[str], i: int, j: int) -> Samples:
    """Return samples with some columns of two joints interchanged."""
    order = np.arange(len(run.joints))
    order[[i, j]] = j, i
    return replace(run, **{name: getattr(run, name)[:, order] for name in names})


def _owned(run: Trajectory) -> Trajectory:
    turns = [quaternion_matrix(orientation) for orientation in run.orientation]
    pairs = zip(run.twist, turns, strict=True)
    return replace(run, twist=np.array([np.concatenate([t[:3] @ r, t[3:] @ r]) for t, r in pairs]))


def _inverted(run: Trajectory) -> Trajectory:
    return replace(run, orientation=run.orientation * np.array([-1.0, -1.0, -1.0, 1.0]))


def components(one: Hypothesis) -> list[Hypothesis]:
    """Return the components of a quantity."""
    return [one._replace(axis=axis) for axis in range(len(AXES.get(one.quantity, "1")))]


def parts_of(twin: Simulator) -> list[Twin]:
    """Return the twins of a simulator's models."""
    return [part for part in twin.parts() if isinstance(part, Twin)]


BEYOND = 100.0  # m, kg m^2, N m s/rad, ...


@dataclass(frozen=True)
class Resolved:
    """Hold the smallest size of a parameter's error that a level would have found."""

    parameter: str
    where: str
    level: str
    smallest: Annotated[float, Quantity("", "that would have been outside")]
    unit: str

    def __str__(self) -> str:
        return f"{Hypothesis(self.parameter, self.where)} {self.size}"

    @property
    def size(self) -> str:
        """The size in words: where a parameter could be off by all of itself, it is not seen.

        Nor where it would have to be beyond any robot's, a hundred of its SI unit.
        """
        if self.smallest > (1.0 if self.unit == "1" else BEYOND):
            return "not at all"
        return Hypothesis(self.parameter, self.where).sized(self.smallest, ".1g")


def resolution_of(effects: Mapping[Hypothesis, float], level: str) -> list[Resolved]:
    """Return the smallest sizes that a level would have found, the largest effects first.

    Args:
        effects: largest change by a unit of each parameter, over what is allowed.
        level: its name.
    """
    found = []
    for one in dict.fromkeys(each.whole for each in effects if each.where != EVERY):
        own = [effects.get(each, 0.0) for each in components(one)]
        if one.quantity == "gravity" and not own[UPWARDS] > UNSEEN * max(own):
            continue  # its strength moves nothing, and only a tilt would
        least = min(effect for effect in own if effect > UNSEEN * max(own))
        found.append(Resolved(one.quantity, one.where, level, 1.0 / least, one.unit))
    return ranked(found, lambda each: each.smallest)


def largest(slopes: Mapping[Hypothesis, Array], floor: Array) -> dict[Hypothesis, float]:
    """Return the largest change of a tick by each parameter, over the floors of groups (6,)."""
    return {one: float((by_group(np.abs(s)) / floor).max()) for one, s in slopes.items()}


def shown_of(found: Sequence[Resolved]) -> list[Resolved]:
    """Return ten: of each quantity where it is seen least, then the largest effects."""
    last = {each.parameter: each for each in found}  # they are in order
    return list(dict.fromkeys([*last.values(), *found]))[:SHOWN]


def summary_of(found: Sequence[Resolved]) -> str:
    """Return in words what would have been seen, ten: of a quantity of many, the least at any."""
    words = []
    for last in [*{each.parameter: each for each in found}.values()][:SHOWN]:
        one = Hypothesis(last.parameter, last.where)
        alone = sum(each.parameter == last.parameter for each in found) == 1
        where = one if alone else f"{one.quantity} of any {one.place}"
        words.append(f"{where} {last.size}")
    return ", ".join(words)


def spread(floor: Array, columns: int) -> Array:
    """Return the floors of groups (6,) by column."""
    n = (columns - 12) // 2
    return np.repeat(floor, [n, n, 3, 3, 3, 3])
