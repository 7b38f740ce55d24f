"""Base class of simulators that change commands or states of another simulator.

`Proxy` passes every call on to an inner simulator (the proxy pattern); a subclass overrides the
calls that it changes, for instance to falsify an engine or to move its world. Every public member
of `Simulator` must be passed on, which test_simulators checks one by one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from roboaccord.contract import Acceleration, Array, Command, ContactPoint, Event, Fault, RobotState
from roboaccord.simulators.base import Simulator


class Proxy(Simulator):
    """Simulator that passes commands on to another one, and returns its states.

    A subclass changes commands in `_advance`, and states in `_read`.

    Args:
        simulator: the simulator to which calls are passed on.
    """

    def __init__(self, simulator: Simulator) -> None:
        self.name, self.version, self.order = simulator.name, simulator.version, simulator.order
        self.channels, self.unplaced = simulator.channels, simulator.unplaced
        super().__init__(simulator.joints, simulator.effort_limits, simulator.physics_step)
        self.armature, self.spring = simulator.armature, simulator.spring
        self.joint_friction = simulator.joint_friction
        self._inner = simulator

    def fail(self, fault: Fault) -> None:
        """Let a joint of the inner simulator fail."""
        self._inner.fail(fault)

    def load(self) -> None:
        """Load everything for the first step."""
        self._inner.load()

    def compile_all(self) -> None:
        """Compile all kernels."""
        self._inner.compile_all()

    def take_events(self) -> Sequence[Event]:
        """Return the events of both simulators since the last call."""
        return [*super().take_events(), *self._inner.take_events()]

    def acceleration(self, state: RobotState, effort: Array) -> Acceleration | None:
        """Return the accelerations in the inner simulator."""
        return self._inner.acceleration(state, effort)

    def masses(self) -> Mapping[str, float]:
        """Return the mass of each link [kg]."""
        return self._inner.masses()

    def contacts(self) -> Sequence[ContactPoint] | None:
        """Return the contacts in the present state."""
        return self._inner.contacts()

    def contact_acceleration(self) -> Acceleration | None:
        """Return the accelerations under the forces of the contacts."""
        return self._inner.contact_acceleration()

    def meter(self) -> None:
        """Start to measure losses."""
        self._inner.meter()

    def take_losses(self) -> Mapping[str, float]:
        """Return the energy lost since the last call, by channel [J]."""
        return self._inner.take_losses()

    def parts(self) -> Sequence[Simulator]:
        """Return the inner simulator's parts."""
        return self._inner.parts()

    def lock(self, joint: int, locked: bool) -> None:
        """Lock a joint, or release it."""
        self._inner.lock(joint, locked)

    def _place(self, state: RobotState) -> None:
        """Reset the inner simulator to a state."""
        self._inner.reset(state)

    def _advance(self, command: Command, duration: float) -> None:
        """Step the inner simulator."""
        self._inner.step(command, duration)

    def _read(self) -> RobotState:
        """Return the inner simulator's state."""
        return self._inner.state()

    _accelerate = acceleration
