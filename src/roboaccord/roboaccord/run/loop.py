"""The deterministic loop of controller and simulator, and runs of a setup in it.

A run advances in control periods; the instants between them are control ticks. At each tick the
controller answers the state with a command; faults of joints that begin are applied; observers,
such as the recorder, are given the command; the simulator advances by one control period; observers
are given the events and the new state. `Stepper` advances from the command on, `drive` is the whole
loop, and `simulate` also returns the motion. `make_simulator` makes the simulator of a setup (a
robot with a scenario), and `run_setup` runs one for the scenario's duration.

What follows a run is an `Observer`, what comes into it an `Inputs`, and what changes the simulator
a `Proxy`, so that the loop needs no new case. The order within a tick and times by `tick_time` must
stay: transports, bags and hashes of runs depend on them (test_loop).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from roboaccord.contract import Command, Event, Fault, RobotState, Trajectory
from roboaccord.contract.checks import NANOSECONDS, check_state, count_steps, tick_time
from roboaccord.contract.interfaces import AnySimulator, Controller, Engine, Inputs, Observer
from roboaccord.engines import REFERENCE, EngineSpec, spec
from roboaccord.run.answer import answer, reset_controller
from roboaccord.run.inputs import Hold
from roboaccord.run.metrics import KeptMotion
from roboaccord.scenario import TIMEOUT, Setup, Watch, make_controller
from roboaccord.simulators.base import Simulator, check_simulator

# Inputs of a run that nobody drives: no target, no switches, no faults. A `Hold` has no state.
NO_INPUTS = Hold()


def simulate(
    *,
    simulator: Simulator,
    controller: Controller,
    initial: RobotState,
    duration: float,
    control_period: float,
    seed: int = 0,
    inputs: Inputs = NO_INPUTS,
    observers: Sequence[Observer] = (),
) -> Trajectory:
    """Run a controller on a simulator, and return the motion at the control ticks.

    Args:
        seed: the controller is reset with it before the run.
        simulator, controller, initial, duration, control_period, inputs, observers: as in `drive`,
            which does not keep the motion.

    Raises:
        AccordError, DivergedError: as `drive` does.
    """
    motion = KeptMotion(simulator.joints)
    reset_controller(controller, seed)
    drive(
        simulator=simulator,
        controller=controller,
        initial=initial,
        duration=duration,
        control_period=control_period,
        inputs=inputs,
        observers=(motion, *observers),
    )
    return motion.trajectory


def drive(
    *,
    simulator: Simulator,
    controller: Controller,
    initial: RobotState,
    duration: float,
    control_period: float,
    inputs: Inputs = NO_INPUTS,
    observers: Sequence[Observer] = (),
    timeout: float = TIMEOUT,
) -> None:
    """Run a controller on a simulator, and call observers with the motion at the control ticks.

    Args:
        simulator: any engine or the reference.
        controller: already reset.
        initial: the state to start from.
        duration: length of the run [s], a whole number of control periods.
        control_period: [s], a whole number of the simulator's physics steps.
        inputs: targets for the controller, switches and faults; they can also end the run.
        observers: called with each state, command and event as they come.
        timeout: how long the controller may take for an answer [s of wall time].

    Raises:
        AccordError: for a duration that is no whole number of periods, a controller that raises or
            takes too long, or a command that is not valid.
        DivergedError: when a state is no longer finite.
    """
    ticks = count_steps(duration, control_period, "duration over control period")
    stepper = Stepper(simulator, initial, control_period, observers)
    stepper.start()
    with Watch(timeout) as watch:
        for _ in range(ticks):
            command = answer(controller, stepper.state, inputs, simulator.joints, watch)
            if inputs.over:
                break
            for fault in inputs.faults(stepper.state):
                stepper.fail(fault)
            stepper.step(command)


class Stepper:
    """Steps a simulator from control tick to control tick, and notifies observers of the motion.

    Args:
        simulator: any engine or the reference.
        initial: the state to start from.
        period: control period [s], a whole number of the simulator's physics steps.
        observers: notified of each state, command and event.

    Attributes:
        period: control period [s].
        tick: number of control periods since the start.
        state: the current one.

    Raises:
        AccordError: if the period is not a whole number of physics steps.
    """

    def __init__(
        self,
        simulator: Simulator,
        initial: RobotState,
        period: float,
        observers: Sequence[Observer] = (),
    ) -> None:
        count_steps(period, simulator.physics_step, "control period over physics step")
        self._simulator, self._initial, self._observers = simulator, initial, observers
        self.period = period
        self._period_ns = round(period * NANOSECONDS)
        self._new_faults = list[Fault]()  # which begin with the next step
        self.tick = 0
        self.state = initial

    def start(self, state: RobotState | None = None) -> None:
        """Put the simulator into the initial state, or into `state`; may be called again."""
        self.tick = 0
        self.state = self._simulator.reset(state or self._initial)
        for observer in self._observers:
            observer.on_state(self.state)

    def fail(self, fault: Fault) -> None:
        """Register a fault of a joint, which begins with the next step."""
        self._new_faults.append(fault)

    def step(self, command: Command) -> Sequence[Event]:
        """Advance by one control period to the exact time of the tick, and return the events.

        Raises:
            AccordError: for a command that is not valid, or a simulation that diverged.
        """
        while self._new_faults:
            self._simulator.fail(self._new_faults.pop(0))
        for observer in self._observers:
            observer.on_command(self.state, command)
        self.tick += 1
        state = self._simulator.step(command, self.period)
        # Round-off of the simulator's clock must not add up: the state gets the time of the tick.
        time = tick_time(self.tick, self._period_ns)
        self.state = state if state.time == time else replace(state, time=time)
        check_state(self.state, self._simulator.joints, self._simulator.name)
        events = self._simulator.take_events()
        for observer in self._observers:
            for event in events:
                observer.on_event(event)
            observer.on_state(self.state)
        return events


def make_simulator(
    setup: Setup, engine: Engine = REFERENCE, *, physics_step: float | None = None
) -> Simulator:
    """Make a simulator of a setup, in the state from which the scenario starts.

    Args:
        setup: robot and scenario.
        engine: `reference`, or an engine by name or specification.
        physics_step: [s]; by default that of the scenario.

    Raises:
        AccordError: for an unknown engine, one that is not installed, or a broken description.
    """
    if physics_step is not None:
        setup = setup.at_step(physics_step)
    if engine == REFERENCE:
        simulator = check_simulator(setup.robot.reference(setup), setup.robot.name)
    else:
        engine_spec = spec(engine)
        unchecked = _make_in_engine(setup, engine_spec)
        simulator = engine_spec.complete(check_simulator(unchecked, setup.robot.name))
        simulator.rounding = engine_spec.rounding
    simulator.reset(setup.initial)
    return simulator


def _make_in_engine(setup: Setup, engine: EngineSpec) -> AnySimulator:
    """Return an engine's simulator of a setup.

    An engine with `whole` (engines/spec.py) simulates the complete setup. For another one, a robot
    may have a simulator of its own; else its description is simulated.
    """
    engine.check_bodies(setup.bodies)
    if engine.whole:
        return engine.make(setup)
    if setup.contact is not None:
        engine.refuse("contact")  # if it has none
    simulator = setup.robot.engine(setup, engine)
    if simulator is not None:
        return simulator
    from roboaccord.engines.model import EngineModel

    return engine.simulate(EngineModel.of(setup))


def run_setup(
    setup: Setup,
    simulator: Simulator,
    observers: Sequence[Observer] = (),
    controller: Controller | None = None,
) -> Trajectory:
    """Run a scenario for its duration with its own controller, or `controller` if it is given."""
    scenario = setup.scenario
    return simulate(
        simulator=simulator,
        controller=controller or make_controller(setup),
        initial=setup.initial,
        duration=scenario.duration,
        control_period=scenario.control_period,
        seed=scenario.seed,
        observers=observers,
    )
