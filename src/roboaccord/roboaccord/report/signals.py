"""Signals of a recorded run by name: of joints, base, links, centre of mass, contact and energy.

`RunSignals` is a mapping from names to signals. A signal is computed when it is asked for: when the
mapping is made, only its unit, meaning, time stamps and the function that computes it are entered
(`_add`, called by `_add_recorded`, `_add_links` and `_add_energies`). Signals of the same kind
share a panel in plots, which `_KINDS` and `_MEANINGS` decide. Names stay, as users type them
(`q/JOINT`, `base/x`, `com/speed`): those that a bag's columns and `accord compare` have are the
same. Former names (`JOINT.q`, `base.x`) are read as well (`bag.columns.matching`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np

from roboaccord.bag import BagRun, read_arrows, read_run
from roboaccord.bag.columns import QUANTITIES, columns, matching, table
from roboaccord.bag.compare import TURNS, signals_of
from roboaccord.bag.folder import find_bag
from roboaccord.contract import AccordError, Array
from roboaccord.contract.results import LEFT_OUT, Quantity, Word
from roboaccord.description.kinematics import TreeKinematics, motion_of
from roboaccord.description.tree import Tree
from roboaccord.run import Run, make_simulator
from roboaccord.run.energy_book import Stored, net_work
from roboaccord.scenario.setup import Setup

_log = logging.getLogger(__name__)
# Number of samples for which the poses of links are computed at once: 12 MB for 30 links.
POSES_AT_ONCE = 4096
# Meaning of a joint's signal, by the first part of its name, and of the base's, by the letter of
# its last part (of `base/vx`: v). Signals of one meaning share a panel.
_MEANINGS = {
    "q": "joint position", "qd": "joint velocity", "effort": "joint effort",
    "v": "velocity of base_link in its axes", "w": "angular velocity of base_link in its axes",
}  # fmt: skip
# Kind of another signal, by the first part of its name. Signals of one kind and unit share a panel.
_KINDS = {
    "base": "base_link", "com": "centre of mass", "contact": "force from outside",
    "energy": "energy", "link": "origin of a link",
}  # fmt: skip


@dataclass(frozen=True)
class Signal:
    """A signal of a run.

    Args:
        name: as of `RunSignals`.
        unit: of the values.
        meaning: in words.
        time: of the samples (k,) [s].
        values: at these times (k,).
    """

    name: Word
    unit: Word
    meaning: Annotated[str, Quantity("", form="text")]
    time: Array = field(metadata=LEFT_OUT)
    values: Array = field(metadata=LEFT_OUT)

    @property
    def kind(self) -> str:
        """The kind of signal: those of the same kind and unit share a panel."""
        first = self.name.partition("/")[0]
        other = self.name if first == "switch" else first
        return _MEANINGS[first] if first in QUANTITIES else _KINDS.get(first, other)

    @property
    def axis(self) -> str:
        """Title of an axis that only this signal has."""
        return f"{self.meaning} [{self.unit}]"


class Source(NamedTuple):
    """What a signal is made from when it is asked for.

    Args:
        unit, meaning, time: as of `Signal`.
        compute: returns the values (k,).
    """

    unit: str
    meaning: str
    compute: Callable[[], Array]
    time: Array


class RunSignals(Mapping[str, Signal]):
    """Mapping from names to the signals of a recorded run, which are computed on demand.

    `q/JOINT`, `qd/`, `effort/`; `base/x`, `/roll`, `/vx`, ..., and so of free bodies, as `BODY/x`;
    `link/LINK/x`, `/y`, `/z` (origin);
    `com/x`, `com/speed` (centre of mass); `contact/force` and its components: the external force
    without gravity and commanded wrenches, from the change of momentum; `contact/count`;
    `energy/kinetic`, `energy/potential`, `energy/total`, `energy/work`; `switch/NAME`.

    Args:
        run: a run, a run folder or a bag.

    Raises:
        AccordError: if there is no such run, or no bag in it.
    """

    def __init__(self, run: Path | str | BagRun | Run) -> None:
        run = run.request.bag if isinstance(run, Run) else run
        self.path = Path() if isinstance(run, BagRun) else find_bag(Path(run))
        self.run = run if isinstance(run, BagRun) else read_run(self.path)
        self.motion = self.run.trajectory
        self._sources = dict[str, Source]()
        self._add_recorded()
        if self.tree:
            self._add_links(self.tree)
        if self.run.contacts:
            times, arrows = read_arrows(self.run.contacts)
            counts = np.array([*map(len, arrows)], dtype=float)
            contacts = Source("1", "number of contact points", lambda: counts, times)
            self._sources["contact/count"] = contacts

    def __getitem__(self, name: str) -> Signal:
        source = self._sources[name]
        return Signal(name, source.unit, source.meaning, source.time, source.compute())

    def __iter__(self) -> Iterator[str]:
        return iter(self._sources)

    def __contains__(self, name: object) -> bool:  # the default would compute the signal
        return name in self._sources

    def __len__(self) -> int:
        return len(self._sources)

    def choose(self, pattern: str) -> list[str]:
        """Return the names that match a name or a glob pattern, as `bag.columns.matching` does."""
        return matching([*self], pattern)

    def groups(self) -> list[SignalGroup]:
        """Return the signals in groups; all joints, or all links, are one group each."""
        by_pattern = dict[str, list[str]]()
        for name in self:
            first, *_, last = name.split("/")
            pattern = f"link/*/{last}" if first == "link" else name
            by_pattern.setdefault(f"{first}/*" if first in QUANTITIES else pattern, []).append(name)
        sources = {pattern: self._sources[names[0]] for pattern, names in by_pattern.items()}
        return [SignalGroup(p, len(by_pattern[p]), s.unit, s.meaning) for p, s in sources.items()]

    @cached_property
    def setup(self) -> Setup | None:
        """Robot and scenario; None for a foreign bag, or if they cannot be made any more."""
        if not self.run.scenario:
            return None
        try:
            return self.run.setup()
        except AccordError as error:
            _log.warning("%s: signals that need the robot are left out: %s", self.path, error)
            return None

    @cached_property
    def tree(self) -> Tree | None:
        """Links and joints; None if the bag has no description with its joints."""
        try:
            tree = Tree.parse(self.run.urdf) if self.run.urdf else None
        except AccordError:  # such as a foreign description without base_link
            return None
        return tree if tree and {j.name for j in tree.moving} <= {*self.motion.joints} else None

    @cached_property
    def links(self) -> Array:
        """Origins of the links in the world (k, links, 3) [m], in the order of the tree."""
        return np.concatenate([origins for origins, _ in self._poses()])

    @cached_property
    def centre(self) -> Array:
        """Centre of mass (k, 3) [m]."""
        assert self.tree
        return np.concatenate([self.tree.centres(*poses) for poses in self._poses()])

    @cached_property
    def velocity(self) -> Array:
        """Velocity of the centre of mass (k, 3) [m/s]."""
        assert self.tree
        kinematics = TreeKinematics(self.tree, self.motion.joints)
        masses = np.array([link.mass for link in self.tree.links])
        states = (self.motion.state(i) for i in range(len(self.motion)))
        linear = (masses @ motion_of(self.tree, kinematics, state).linear for state in states)
        return np.asarray(np.array([*linear]) / masses.sum())

    def _poses(self) -> Iterator[tuple[Array, Array]]:
        """Yield origins and rotations of the links in blocks of samples, to save memory."""
        assert self.tree
        motion = self.motion
        for first in range(0, len(motion), POSES_AT_ONCE):
            block = slice(first, first + POSES_AT_ONCE)
            pose = motion.position[block], motion.orientation[block]
            yield self.tree.forward(motion.joints, motion.q[block], *pose)

    def _add_recorded(self) -> None:
        """Add the signals that were recorded: of joints, base and switches."""
        frames = {body: body for body in self.run.bodies}
        frames |= {"base": "base_link"} if self.run.has_base else {}
        # Columns are called KIND/NAME [UNIT]; the first one is the time.
        for column, values in zip(columns(self.run)[1:], table(self.run).T[1:], strict=True):
            label, _, unit = column.removesuffix("]").rpartition(" [")
            kind, _, name = label.partition("/")
            frame = frames.get(kind, "")
            if frame and not name.startswith("q"):
                text = _MEANINGS.get(name[0], f"{name} of base_link").replace("base_link", frame)
                self._add(label, unit, text, values)
            elif kind == "switch":
                self._add(label, unit, "switch, 1 for on", values)
            elif kind in QUANTITIES:
                self._add(label, unit, _MEANINGS[kind], values)
        for name, values in signals_of(self.run).items():
            frame, _, turn = name.partition("/")
            if frame in frames and turn in TURNS:
                self._add(name, "rad", f"{turn} of {frames[frame]}", np.unwrap(values))

    def _add_links(self, tree: Tree) -> None:
        """Add the signals that follow from the description: centre of mass, energies, links."""
        self._add_axes("com", "m", "{} of the centre of mass", "centre")
        if any(link.mass for link in tree.links):
            speed = "speed of the centre of mass"
            self._add("com/speed", "m/s", speed, partial(self._norm, "velocity"))
            self._add_energies()
        for k, link in enumerate(tree.links):
            self._add_axes(f"link/{link.name}", "m", "{} of a link's origin", "links", k)

    def _add_energies(self) -> None:
        """Add energies and, for a base that moves freely, the force from outside."""
        self._add("energy/kinetic", "J", "kinetic energy", lambda: self.energies[:, 0])
        self._add("energy/potential", "J", "potential energy", lambda: self.energies[:, 1])
        meaning = "kinetic and potential energy"
        self._add("energy/total", "J", meaning, lambda: self.energies.sum(axis=1))
        meaning = "work of efforts and wrenches since the start"
        self._add("energy/work", "J", meaning, partial(net_work, self.motion))
        if self.setup and self.run.has_base and self.setup.scenario.base in ("free", "planar"):
            self._add_axes("contact", "N", "force from outside along {}", "outer_force")
            norm = partial(self._norm, "outer_force")
            self._add("contact/force", "N", "force from outside but for gravity", norm)

    def _add_axes(self, prefix: str, unit: str, meaning: str, array: str, *index: int) -> None:
        """Add three signals: the columns x, y and z of an array that is a property of this class.

        The property, such as `centre`, is computed only when one of the signals is asked for.

        Args:
            prefix: first part of the signals' names.
            unit: of the signals.
            meaning: with {} for the axis.
            array: name of the property, of shape (k, ..., 3).
            index: of the array's dimensions before the axes: of a link.
        """
        for i, axis in enumerate("xyz"):
            column = partial(self._column, array, *index, i)
            self._add(f"{prefix}/{axis}", unit, meaning.format(axis), column)

    def _column(self, name: str, *index: int) -> Array:
        """Return one column (k,) of an array that is a property."""
        return np.asarray(getattr(self, name)[(slice(None), *index)])

    def _norm(self, name: str) -> Array:
        """Return the norms (k,) of the rows of an array that is a property."""
        return np.asarray(np.linalg.norm(getattr(self, name), axis=1))

    @cached_property
    def energies(self) -> Array:
        """Kinetic and potential energy (k, 2) [J]."""
        assert self.tree
        if self.setup is None:
            raise AccordError("energies need the robot's parameters, which this bag does not hold")
        simulator = make_simulator(self.setup, "reference")
        parameters = self.setup.parameters.gravity, simulator.armature, simulator.spring
        stored = Stored(self.tree, self.motion.joints, *parameters, self.setup.bodies)
        return np.array([stored.of(self.motion.state(i)) for i in range(len(self.motion))])

    @cached_property
    def outer_force(self) -> Array:
        """Mean force from outside in the period that ends at each time (k, 3) [N].

        It is m (dv/dt + g) of the centre of mass, less the commanded wrench; NaN at the first time.
        """
        assert self.tree and self.setup
        mass = sum(link.mass for link in self.tree.links)
        change = np.diff(self.velocity, axis=0) / np.diff(self.motion.time)[:, None]
        force = mass * (change + np.array([0.0, 0.0, self.setup.parameters.gravity]))
        if self.motion.wrench is not None:
            force = force - self.motion.wrench[1:, :3]
        return np.concatenate([np.full((1, 3), np.nan), force])

    def _add(self, name: str, unit: str, meaning: str, values: Array | Callable[[], Array]) -> None:
        """Add a signal at the time stamps of the motion, by its values or what computes them."""
        compute = values if callable(values) else lambda: values
        self._sources[name] = Source(unit, meaning, compute, self.motion.time)


@dataclass(frozen=True)
class SignalGroup:
    """A group of signals.

    Args:
        pattern: glob pattern that matches their names.
        count: their number.
        unit, meaning: of the first of them.
    """

    pattern: Word
    count: Annotated[int, Quantity("")]
    unit: Word
    meaning: Annotated[str, Quantity("", form="text")]
