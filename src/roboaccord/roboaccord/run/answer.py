"""A controller's answer to a state: its command, checked and copied.

At each control tick the loop of a run (loop.py) gives the state to the controller, which returns a
`Command`, such as the efforts of the joints. The controller may be a user's code. Whatever it does,
such as raising an error, taking too long or returning anything but a command, ends in one line that
names it (test_user_code, test_time_limits). The command is copied so that it does not change with
the controller's arrays. Checks of commands are in contract/checks.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from roboaccord.contract import AccordError, Controller, Event, Inputs, LockstepError
from roboaccord.contract.checks import check_command, check_switches
from roboaccord.contract.state import Command, RobotState, Target
from roboaccord.scenario.user_code import line_of, place_of
from roboaccord.scenario.watch import START_TIMEOUT, CallTimeout, Watch, starting

UNWATCHED = Watch(math.inf)  # no time limit


def no_command(time: float, timeout: float) -> LockstepError:
    """Return the error for a controller that does not answer.

    Args:
        time: of the state that it was given [s].
        timeout: that it had [s of wall time].
    """
    instant = f"t = {time:.6f} s"
    return LockstepError(f"no command for {instant} from the controller within {timeout:g} s")


def reset_controller(controller: Controller, seed: int, timeout: float = START_TIMEOUT) -> None:
    """Reset a controller with a seed, within a timeout [s of wall time].

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
    """Return a checked copy of the command that a controller gives for a state.

    Args:
        controller: to be asked.
        state: of the robot; the controller is given the part that encoders measure.
        target: that people ask for; None for none.
        joints: joint names.
        watch: interrupts a call that takes too long, by `CallTimeout`.

    Raises:
        AccordError: if the controller, which may be a user's, raises, takes too long or gives no
            valid command.
    """
    name = type(controller).__name__
    instant = f"t = {state.time:.6f} s"
    # The watch counts the beginning and the end of each call.
    watch.calls += 1
    try:
        command = controller.update(state.measured, target)
    except AccordError:
        raise
    except CallTimeout:
        raise no_command(state.time, watch.timeout) from None
    except BaseException as error:
        raise AccordError(f"{name} {line_of(error)} at {instant}{place_of(error)}") from error
    finally:
        watch.calls += 1
    if not isinstance(command, Command):
        raise AccordError(f"{name} gave {type(command).__name__}, not a Command, at {instant}")
    try:
        command = command.copy()
    except (TypeError, ValueError) as error:
        raise AccordError(f"{name} gave an invalid Command ({error}) at {instant}") from error
    if command.findings and not all(isinstance(finding, Event) for finding in command.findings):
        raise AccordError(f"{name} gave findings that are not events at {instant}")
    check_command(command, joints, name, state.time)
    if command.switches:
        check_switches(command, state, name)
    return command


def answer(
    controller: Controller,
    state: RobotState,
    inputs: Inputs,
    joints: Sequence[str],
    watch: Watch = UNWATCHED,
) -> Command:
    """Return a controller's command at a tick, with the target and the switches of the inputs.

    Where both set a switch, the inputs prevail. Arguments and errors as in `ask_controller`.
    """
    command = ask_controller(controller, state, inputs.target(state), joints, watch)
    if requested := inputs.switches(state):
        # Only switches that this changes; otherwise the command stays as it is.
        commanded, current = command.switches, state.switches
        changes = {n: on for n, on in requested.items() if n in commanded or current[n] is not on}
        command = replace(command, switches={**commanded, **changes})
        check_switches(command, state, type(inputs).__name__)
    return command
