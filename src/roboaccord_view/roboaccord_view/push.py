"""External pushes on links of a running simulation, as extra forces beside the force law.

What pages do to a running robot may be added here, and becomes an event of the run, of KIND, which
stays, for bags keep it. A push must begin with a control period and last whole ones: test_push.py
measures the impulse in each engine. An engine takes part by `push` of `EngineSimulator`.
"""

from __future__ import annotations

import math

import numpy as np
from roboaccord.contract import AccordError, Array, Command, Event, RobotState, check_known
from roboaccord.engines import EngineSimulator, default_names
from roboaccord.simulators import Proxy, Simulator

KIND = "push"  # of the event
_ROUND_OFF = 1e-9  # s


class PushedSimulator(Proxy):
    """Push links of a simulator.

    A push begins with the next control period and lasts whole periods. It is an event of the run,
    with its impulse.

    Args:
        simulator: of an engine; others are refused when they are pushed.
    """

    def __init__(self, simulator: Simulator) -> None:
        super().__init__(simulator)
        self._parts = [part for part in simulator.parts() if isinstance(part, EngineSimulator)]
        self._asked: list[tuple[str, Array, float]] = []
        self._end = math.inf

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
                f"{self.name} takes no push: use engine {' or '.join(default_names())}"
            )
        check_known("unknown link ", link, self.links)
        if not (duration > 0.0 and np.isfinite([*force, duration]).all()):
            raise AccordError("a push needs a finite force and a duration above 0 s")
        self._asked.append((link, np.array(force, dtype=float), duration))

    def _start(self, state: RobotState) -> None:
        """Begin at a state, without a push."""
        self._asked.clear()
        self._let_go()
        super()._start(state)

    def _advance(self, command: Command, duration: float) -> None:
        time = self.state().time
        if time > self._end - _ROUND_OFF:
            self._let_go()
        if self._asked:  # the newest replaces all others
            link, force, length = self._asked.pop()
            self._asked.clear()
            self._end = time + length
            impulse = math.ceil(length / duration - _ROUND_OFF) * duration * np.linalg.norm(force)
            self._events.append(Event(time, KIND, link, float(impulse)))
            for part in self._parts:
                part.push(link, force)
        super()._advance(command, duration)

    def _let_go(self) -> None:
        self._end = math.inf
        for part in self._parts:
            part.push(part.tree.links[0].name, np.zeros(3))
