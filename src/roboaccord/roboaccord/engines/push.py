"""External pushes on links of a running simulation, as extra forces beside the force law."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from roboaccord.contract.errors import AccordError, did_you_mean
from roboaccord.contract.interfaces import Simulator
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.contract.trajectory import Event
from roboaccord.engines import default_names
from roboaccord.engines.base import EngineSimulator, Modelled

KIND = "push"  # of the event
_ROUND_OFF = 1e-9  # s


class PushedSimulator:
    """Push links of a simulator (Simulator).

    A push begins with the next control period and lasts whole periods. It is an event of the run,
    with its impulse.

    Args:
        simulator: of an engine; others are refused when they are pushed.
    """

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator
        self._parts: Sequence[EngineSimulator] = (
            simulator.parts() if isinstance(simulator, Modelled) else ()
        )
        self._asked: list[tuple[str, Array, float]] = []
        self._end = math.inf
        self._time = 0.0
        self._events: list[Event] = []
        # What a protocol asks for must be there: since Python 3.12 it asks past `__getattr__`.
        for name in ("parts", "meter", "take_losses", "armature", "contacts"):
            if hasattr(simulator, name):
                setattr(self, name, getattr(simulator, name))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._simulator, name)

    @property
    def links(self) -> tuple[str, ...]:
        """Names of the links that can be pushed; none where the simulator takes no force."""
        names = [{link.name for link in part.tree.links} for part in self._parts]
        return tuple(sorted(set.intersection(*names) - {"world"})) if names else ()

    def push(self, link: str, force: Array, duration: float) -> None:
        """Push a link at its centre of mass; may be called from another thread.

        Args:
            link: name.
            force: in the world (3,) [N].
            duration: [s].

        Raises:
            AccordError: where the simulator takes no force, for an unknown link, or no duration.
        """
        if not self.links:
            raise AccordError(
                f"{self._simulator.name} takes no push: use engine {' or '.join(default_names())}"
            )
        if link not in self.links:
            raise AccordError(f"unknown link {link}{did_you_mean(link, self.links)}")
        if not (duration > 0.0 and np.isfinite([*force, duration]).all()):
            raise AccordError("a push needs a finite force and a duration above 0 s")
        self._asked.append((link, np.array(force, dtype=float), duration))

    def reset(self, state: RobotState) -> RobotState:
        """Put the robot in `state`, without a push."""
        self._asked.clear()
        self._events.clear()
        self._let_go()
        self._time = state.time
        return self._simulator.reset(state)

    def step(self, command: Command, duration: float) -> RobotState:
        """Advance by `duration` [s] under a held command and the push in force."""
        if self._time > self._end - _ROUND_OFF:
            self._let_go()
        if self._asked:  # the newest replaces all others
            link, force, length = self._asked.pop()
            self._asked.clear()
            self._end = self._time + length
            impulse = math.ceil(length / duration - _ROUND_OFF) * duration * np.linalg.norm(force)
            self._events.append(Event(self._time, KIND, link, float(impulse)))
            for part in self._parts:
                part.push(link, force)
        state = self._simulator.step(command, duration)
        self._time = state.time
        return state

    def take_events(self) -> Sequence[Event]:
        """Return the events since the last call, pushes among them."""
        pushes, self._events = self._events, []
        return [*pushes, *self._simulator.take_events()]

    def _let_go(self) -> None:
        self._end = math.inf
        for part in self._parts:
            part.push(part.tree.links[0].name, np.zeros(3))
