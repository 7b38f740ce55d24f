"""A controller's answer to a state: asked, checked and copied.

Whatever a user's controller does, such as raising, taking too long or returning something else,
ends in one line that names it (test_user_code, test_time_limits). Checks may be added in
contract/checks.py.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from roboaccord.contract.checks import check_command, check_switches
from roboaccord.contract.errors import AccordError, LockstepError
from roboaccord.contract.interfaces import Controller, Inputs
from roboaccord.contract.state import Command, RobotState, Target
from roboaccord.contract.trajectory import Event
from roboaccord.scenario.user_code import line_of, place_of
from roboaccord.scenario.watch import START_TIMEOUT, Silence, Watch, starting

UNWATCHED = Watch(math.inf)


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
