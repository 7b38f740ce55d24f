"""The deterministic loop: state out, command in, step; its pace, and runs of a setup in it.

The order within a tick (answer of the controller, faults, command to observers, step, events and
state to observers) and times by `tick_time` are fixed: transports, bags and hashes all have them
(test_loop). FINEST and SLACK only pace a run by the wall clock and may be tuned. Whatever is to
follow a run is an `Observer`, whatever comes into it an `Inputs`, a change of the simulator a
`Proxy`: the loop itself needs no new case for these.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Sequence
from dataclasses import replace

from roboaccord.contract.checks import (
    NANOSECONDS,
    check_command,
    check_state,
    check_switches,
    count_steps,
    tick_time,
)
from roboaccord.contract.errors import AccordError, LockstepError
from roboaccord.contract.fault import Fault
from roboaccord.contract.interfaces import AnySimulator, Controller, Engine, Inputs, Observer
from roboaccord.contract.state import Command, RobotState, Target
from roboaccord.contract.trajectory import Event, Trajectory
from roboaccord.engines import REFERENCE, spec
from roboaccord.engines.spec import EngineSpec
from roboaccord.run.inputs import Hold
from roboaccord.run.metrics import KeptMotion
from roboaccord.scenario.controllers import make_controller
from roboaccord.scenario.setup import Setup
from roboaccord.scenario.user_code import line_of, place_of
from roboaccord.scenario.watch import START_TIMEOUT, TIMEOUT, Silence, Watch, starting
from roboaccord.simulators.base import Simulator, check_simulator

FINEST = 1e-3  # s between looks at the wall clock
SLACK = 0.2  # s of delay that is made up for; a longer one moves the schedule
_log = logging.getLogger(__name__)
UNWATCHED = Watch(math.inf)
NO_INPUTS = Hold()


def no_command(time: float, timeout: float) -> LockstepError:
    """Return the error for a controller that does not answer the state of `time` [s]."""
    return LockstepError(
        f"no command for t = {time:.6f} s from the controller within {timeout:g} s"
    )


def reset_controller(controller: Controller, seed: int, timeout: float = START_TIMEOUT) -> None:
    """Reset a controller.

    Raises:
        AccordError: if the controller, which may be a user's, raises or takes too long.
    """
    with starting(f"{type(controller).__name__}.reset", timeout):
        controller.reset(seed)


def ask_controller(
    controller: Controller,
    state: RobotState,
    target: Target | None,
    joints: Sequence[str],
    watch: Watch = UNWATCHED,
) -> Command:
    """Return a controller's command, checked; it does not change when the controller's arrays do.

    Args:
        controller: is asked.
        state, target: what it is given, read-only; the state as the encoders have it.
        joints: joint names.
        watch: ends a call that takes too long.

    Raises:
        AccordError: if the controller, which may be a user's, raises, takes too long or gives no
            valid command.
    """
    who = type(controller).__name__
    watch.calls += 1
    try:
        command = controller.update(state.measured, target)
    except AccordError:
        raise
    except Silence:
        raise no_command(state.time, watch.timeout) from None
    except BaseException as error:
        what = f"{who} {line_of(error)} at t = {state.time:.6f} s"
        raise AccordError(f"{what}{place_of(error)}") from error
    finally:
        watch.calls += 1
    if not isinstance(command, Command):
        raise AccordError(
            f"{who} gave {type(command).__name__}, not a Command, at t = {state.time:.6f} s"
        )
    try:
        command = command.copy()
    except (TypeError, ValueError) as error:
        raise AccordError(
            f"{who} gave an invalid Command ({error}) at t = {state.time:.6f} s"
        ) from error
    if command.findings and not all(isinstance(each, Event) for each in command.findings):
        raise AccordError(f"{who} gave findings that are not events at t = {state.time:.6f} s")
    check_command(command, joints, who, state.time)
    if command.switches:
        check_switches(command, state, who)
    return command


def answer(
    controller: Controller,
    state: RobotState,
    inputs: Inputs,
    joints: Sequence[str],
    watch: Watch = UNWATCHED,
) -> Command:
    """Return a controller's command under the inputs of a tick; see `ask_controller`.

    Switches of the inputs go before the controller's.
    """
    command = ask_controller(controller, state, inputs.target(state), joints, watch)
    if asked := inputs.switches(state):
        given, now = command.switches, state.switches
        changes = {n: on for n, on in asked.items() if n in given or now[n] is not on}
        command = replace(command, switches={**given, **changes})
        check_switches(command, state, type(inputs).__name__)
    return command


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
        seed: with which the controller is reset first, for whatever is random in it.
        observers: called with each state, command and event as they come.
        others: as of `drive`, which keeps nothing.

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
        controller: has been reset.
        initial: the state to start from.
        duration: length of the run [s], a whole number of control periods.
        control_period: [s], a whole number of the simulator's physics steps.
        inputs: targets of the controller, switches and faults; they can end the run.
        observers: called with each state, command and event as they come.
        timeout: how long the controller may take for an answer [s of wall time].

    Raises:
        AccordError: for periods that do not divide, a controller that raises or takes too long, or
            a command that is not valid.
        DivergedError: when the simulation leaves the finite numbers.
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
    """Step a simulator from control tick to control tick, and notify observers of the motion.

    Args:
        simulator: what simulates.
        initial: the state to start from.
        period: control period [s], a whole number of the simulator's physics steps.
        observers: notified of each state, command and event.

    Attributes:
        tick: how many control periods are done.
        state: the present one.

    Raises:
        AccordError: for a period that does not divide.
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
        self.period, self._period_ns = period, round(period * NANOSECONDS)
        self._faults = list[Fault]()
        self.tick, self.state = 0, initial

    def start(self) -> None:
        """Begin, or begin again."""
        self.tick, self.state = 0, self._simulator.reset(self._initial)
        for observer in self._observers:
            observer.on_state(self.state)

    def fail(self, fault: Fault) -> None:
        """Let a joint fail at the next step, which can be the first."""
        self._faults.append(fault)

    def step(self, command: Command) -> Sequence[Event]:
        """Advance by one control period to the exact time of the tick, and return the events.

        Raises:
            AccordError: for a command that is not valid, or a simulation that diverged.
        """
        while self._faults:
            self._simulator.fail(self._faults.pop(0))
        for observer in self._observers:
            observer.on_command(self.state, command)
        self.tick += 1
        state = self._simulator.step(command, self.period)
        time = tick_time(self.tick, self._period_ns)
        self.state = state if state.time == time else replace(state, time=time)
        check_state(self.state, self._simulator.joints, self._simulator.name)
        events = self._simulator.take_events()
        for observer in self._observers:
            for event in events:
                observer.on_event(event)
            observer.on_state(self.state)
        return events


class Pace:
    """Schedule of the control ticks by the wall clock; no tick is skipped.

    Args:
        period: control period [s].
        pace: simulated seconds a second of wall time; 0: every tick is due at once. It may be
            changed at any time.
    """

    def __init__(self, period: float, pace: float) -> None:
        self._period, self.pace = period, pace
        self._due = 0.0
        self._warned = False

    @property
    def interval(self) -> float:
        """Wall time between ticks [s]; 0 where every tick is due at once."""
        return self._period / self.pace if self.pace else 0.0

    @property
    def look_period(self) -> float:
        """How often to look whether a tick is due [s]; 0 where it always is."""
        return max(self.interval, FINEST) if self.pace else 0.0

    def restart(self) -> None:
        """Count from now on."""
        self._due = time.monotonic() + self.interval

    def due(self) -> bool:
        """Return whether the next tick may be taken."""
        return not self.pace or time.monotonic() >= self._due

    def wait(self) -> None:
        """Wait until the next tick is due, and take it."""
        if self.pace:
            time.sleep(max(self._due - time.monotonic(), 0.0))
        self.advance()

    def advance(self) -> None:
        """Note that a tick is taken, and warn once if ticks are due faster than that can be."""
        if not self.pace:
            return
        self._due += self.interval
        late = time.monotonic() - self._due
        if late > SLACK:
            self._due += late
            if not self._warned:
                _log.warning("the simulation falls behind the wall clock; no step is left out")
            self._warned = True


def make_simulator(
    setup: Setup,
    engine: Engine = REFERENCE,
    *,
    physics_step: float | None = None,
) -> Simulator:
    """Make a simulator of a setup, in the state from which the scenario starts.

    Args:
        setup: robot and scenario.
        engine: `reference`, or an engine by name or specification.
        physics_step: [s]; the scenario's where None.

    Raises:
        AccordError: for an unknown engine, one that is not installed, or a broken description.
    """
    if physics_step is not None:
        setup = setup.at_step(physics_step)
    found = None if engine == REFERENCE else spec(engine)
    made = _make(setup, found) if found else setup.robot.reference(setup)
    simulator = check_simulator(made, setup.robot.name)
    if found:
        simulator = found.complete(simulator)
    simulator.reset(setup.initial)
    return simulator


def _make(setup: Setup, engine: EngineSpec) -> AnySimulator:
    """Make a robot in an engine, or what the robot makes of it there."""
    if engine.whole:
        return engine.make(setup)
    if setup.contact is not None:
        engine.refuse("contact")
    made = setup.robot.engine(setup, engine)
    if made is not None:
        return made
    from roboaccord.engines.model import EngineModel

    return engine.simulate(EngineModel.of(setup))


def run_setup(
    setup: Setup,
    simulator: Simulator,
    observers: Sequence[Observer] = (),
    controller: Controller | None = None,
) -> Trajectory:
    """Run a setup in a simulator for its duration, with its own controller or the one given."""
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
