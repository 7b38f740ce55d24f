"""Arms that differ from their model, drawn from its uncertainties, for every simulator.

Masses, centres, lengths and the payload go into the description that every simulator reads, and
friction into the parameters; torque constants and latency between the command and the arm, zeros,
quantisation and noise between the arm and what is measured.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np
from packbot.controllers.trial import OffModel
from packbot.model.parameters import JOINTS
from roboaccord.contract import Acceleration, Array, Command, Fault, RobotState
from roboaccord.engines import REFERENCE
from roboaccord.run import make_simulator
from roboaccord.scenario import Scenario, Setup, load_scenario
from roboaccord.simulators import Simulator
from roboaccord_studies.packbot.detection.uncertainty import Uncertainty
from roboaccord_studies.packbot.identification.drawn_arm import Draw, drawn_setup, with_friction
from roboaccord_studies.packbot.identification.unknowns import vector

Maker = str | Callable[[Setup], Simulator]
"""A simulator by its name, or what makes it."""
TOLERANCE = 1e-5  # of the steps of the reference: less than noise, and 3.5 times as fast
NOISES = (0.3, 3.0)  # of the noise that is assumed, in logarithms uniform: a third to three times


def draw_arm(rng: np.random.Generator, u: Uncertainty, limits: Array) -> Draw:
    """Draw an arm within uncertainties, each uniformly.

    Args:
        rng: to draw from.
        u: uncertainties.
        limits: of the efforts (7,) [N m].
    """
    n = len(JOINTS)

    def within(size: float, count: int) -> Array:
        return size * rng.uniform(-1.0, 1.0, count)

    factor = float(np.exp(rng.uniform(*np.log(NOISES))))
    x = vector({
        "mass": within(u.mass, n),
        "centre": within(u.centre, 3 * n),
        "length": within(u.length, 3 * n),
        "payload": [rng.uniform(0.0, 1.0) * u.payload, *within(u.payload_offset, 2)],
        "gain": within(u.torque_constant, n),
        "viscous": within(u.viscous, n),
        "coulomb": u.coulomb * rng.uniform(0.0, 1.0, n) * limits,
        "zero": within(u.encoder_offset, n),
        "latency": rng.integers(min(1, round(u.latency)), round(u.latency) + 1),
    })  # fmt: skip
    return Draw(x, u.quantisation, (factor * u.angle_noise, factor * u.rate_noise))


class Plant:
    """An arm that is not its model, in a simulator: commands in, measurements out.

    Args:
        draw: of the arm.
        engine: name of the simulator, or what makes it.
        scenario: in which it stands, by name, or with what fails.

    Attributes:
        setup: as it is.
        simulator: of that.
    """

    def __init__(self, draw: Draw, engine: Maker, scenario: str | Scenario = "reach") -> None:
        if isinstance(scenario, str):
            scenario = load_scenario("packbot", "packbot", scenario)
        options = {REFERENCE: {"tolerance": TOLERANCE}} | scenario.engine_options
        known = scenario.model_copy(update={"engine_options": options})
        self.setup = drawn_setup(draw, with_friction(draw, known))
        make = partial(make_simulator, engine=engine) if isinstance(engine, str) else engine
        self.simulator = make(self.setup)
        self.draw = draw
        self.period = known.control_period

    def reset(self, q: Array, seed: int) -> RobotState:
        """Begin at rest at angles (7,) [rad], and return what is measured, with noise of a seed."""
        self._rng = np.random.default_rng(seed)
        self._stuck, self._last = list[int](), np.zeros(len(JOINTS))
        zero = np.zeros(len(JOINTS))
        self._queue = [zero] * (int(self.draw.of("latency")[0]) + 1)
        self.state = self.simulator.reset(RobotState(0.0, q, zero, zero))
        return self._seen()

    def fail(self, fault: Fault) -> None:
        """Let a joint fail at the next tick."""
        self.simulator.fail(fault)
        if fault.kind == "stuck":
            self._stuck.append(JOINTS.index(fault.joint))

    def step(self, command: Command) -> RobotState:
        """Go on for a tick, and return what is measured."""
        self._queue = [*self._queue[1:], np.array(command.effort)]
        effort = (1.0 + self.draw.of("gain")) * self._queue[0]
        self.state = self.simulator.step(Command(effort), self.period)
        return self._seen()

    def record(
        self,
        start: Array,
        seed: int,
        control: Callable[[RobotState], Command],
        duration: float,
        fault: Fault | None = None,
    ) -> tuple[Array, Array]:
        """Move the arm, and return what is measured and commanded, and the true angles (k, 7).

        Args:
            start: angles (7,) [rad] at which it begins, at rest.
            seed: of the noise.
            control: gives the command for what is measured.
            duration: [s].
            fault: that comes at its time.

        Returns:
            rows (k, 22) of time, q, qd, and the effort commanded up to then, and the angles.
        """
        seen = self.reset(start, seed)
        rows, states, effort = list[Array](), list[Array](), np.zeros(len(JOINTS))
        failed = round(fault.time / self.period) if fault else -1
        for tick in range(round(duration / self.period)):
            rows.append(np.concatenate([[seen.time], seen.q, seen.qd, effort]))
            states.append(self.state.q)
            if tick == failed and fault:
                self.fail(replace(fault, time=0.0))
            command = control(seen)
            effort = command.effort
            seen = self.step(command)
        return np.array(rows), np.array(states)

    def _seen(self) -> RobotState:
        draw, state = self.draw, self.state.measured
        q, qd = (
            x + sigma * self._rng.standard_normal(len(JOINTS))
            for x, sigma in zip((state.q, state.qd), draw.noise, strict=True)
        )
        q = q + draw.of("zero")
        if draw.step:
            q = draw.step * np.round(q / draw.step)
        # What is stuck repeats what was read last, with its noise.
        q[self._stuck], qd[self._stuck] = self._last[self._stuck], 0.0
        self._last = q
        return RobotState(state.time, q, qd, state.effort)


class Instrumented(OffModel):
    """A plant with a simulator's face: its states are true, its encoders have what is measured.

    Args:
        plant: with the faults of its scenario.
        seed: of the noise.
    """

    def __init__(self, plant: Plant, seed: int) -> None:
        inner = plant.simulator
        super().__init__(inner.joints, inner.effort_limits, inner.physics_step)
        self.name, self.version, self.order = inner.name, inner.version, inner.order
        self.plant, self._seed = plant, seed
        self.truth, self.zeros = plant.setup, plant.draw.of("zero")

    def fail(self, fault: Fault) -> None:
        self.plant.fail(fault)

    def masses(self) -> Mapping[str, float]:
        return self.plant.simulator.masses()

    def _place(self, state: RobotState) -> None:
        self._seen = self.plant.reset(state.q, self._seed)

    def _advance(self, command: Command, duration: float) -> None:
        self._seen = self.plant.step(command)

    def _read(self) -> RobotState:
        seen = zip(range(len(JOINTS)), self._seen.q.tolist(), self._seen.qd.tolist(), strict=True)
        return replace(self.plant.state, time=self._time, encoders=tuple(seen))

    def _accelerate(self, state: RobotState, effort: Array) -> Acceleration | None:
        return self.plant.simulator.acceleration(state, effort)

    def _note(self, before: RobotState, after: RobotState) -> None:
        self._events += self.plant.simulator.take_events()
