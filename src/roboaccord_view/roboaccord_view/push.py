"""External pushes on links of a running simulation, as forces added to those of its contacts.

A push begins with a control period and lasts a whole number of them. It becomes an event of the run
with its impulse, which test_push.py measures in each engine. An engine takes part by the method
`push` of `EngineSimulator`. Other ways in which pages act on a running robot may be added here.
KIND stays, for bags contain it.
"""

import math

import numpy as np
from roboaccord.contract import AccordError, Array, Command, Event, RobotState, check_known
from roboaccord.engines import EngineSimulator, default_names
from roboaccord.simulators import Proxy, Simulator

KIND = "push"  # kind of the event
# s, or control periods; smaller differences of times are round-off, as in player.py.
ROUND_OFF = 1e-9


class PushedSimulator(Proxy):
    """A simulator whose links can be pushed.

    Args:
        simulator: simulator of an engine; any other one refuses pushes.
    """

    def __init__(self, simulator: Simulator) -> None:
        super().__init__(simulator)
        self._engines = [part for part in simulator.parts() if isinstance(part, EngineSimulator)]
        # Pushes that are to begin with the next control period: link, force (3,) [N], duration [s].
        self._requests: list[tuple[str, Array, float]] = []
        self._end = math.inf  # time at which the present push ends [s]; infinite without one

    @property
    def links(self) -> tuple[str, ...]:
        """Names of the links that can be pushed; none if the simulator takes no force."""
        names = [{link.name for link in engine.tree.links} for engine in self._engines]
        return tuple(sorted(set.intersection(*names) - {"world"})) if names else ()

    def push(self, link: str, force: Array, duration: float) -> None:
        """Push a link at its centre of mass; may be called from another thread.

        Args:
            link: name of the link.
            force: force in the world frame (3,) [N].
            duration: how long it acts [s]; rounded up to whole control periods.

        Raises:
            AccordError: if the simulator takes no force, the link is unknown, or there is no
                duration.
        """
        if not self.links:
            engines = " or ".join(default_names())
            raise AccordError(f"{self.name} takes no push: use engine {engines}")
        check_known("unknown link ", link, self.links)
        if not (duration > 0.0 and np.isfinite([*force, duration]).all()):
            raise AccordError("a push needs a finite force and a duration above 0 s")
        self._requests.append((link, np.array(force, dtype=float), duration))

    def _start(self, state: RobotState) -> None:
        """Start at a state, without a push."""
        self._requests.clear()
        self._end_push()
        super()._start(state)

    def _advance(self, command: Command, duration: float) -> None:
        """Advance under a command and the push that is in force."""
        time = self.state().time
        if time > self._end - ROUND_OFF:
            self._end_push()
        if self._requests:  # the newest replaces all others
            link, force, push_time = self._requests.pop()
            self._requests.clear()
            self._end = time + push_time
            impulse = math.ceil(push_time / duration - ROUND_OFF) * duration * np.linalg.norm(force)
            self._events.append(Event(time, KIND, link, float(impulse)))
            for engine in self._engines:
                engine.push(link, force)
        super()._advance(command, duration)

    def _end_push(self) -> None:
        """End the present push."""
        self._end = math.inf
        for engine in self._engines:
            engine.push(engine.tree.links[0].name, np.zeros(3))
