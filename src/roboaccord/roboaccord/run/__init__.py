"""Runs: factory of simulators, the loop, runners, sweeps, figures of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roboaccord.numerics.lazy import lazy_names, make_callable

if TYPE_CHECKING:
    from roboaccord.run import loop as loop
    from roboaccord.run.inputs import EFFORT as EFFORT
    from roboaccord.run.inputs import POSITION as POSITION
    from roboaccord.run.inputs import VELOCITY as VELOCITY
    from roboaccord.run.inputs import Announced as Announced
    from roboaccord.run.inputs import HeardInputs as HeardInputs
    from roboaccord.run.inputs import Hold as Hold
    from roboaccord.run.inputs import LiveInputs as LiveInputs
    from roboaccord.run.inputs import RecordedInputs as RecordedInputs
    from roboaccord.run.loop import NO_INPUTS as NO_INPUTS
    from roboaccord.run.loop import Pace as Pace
    from roboaccord.run.loop import Stepper as Stepper
    from roboaccord.run.loop import answer as answer
    from roboaccord.run.loop import ask_controller as ask_controller
    from roboaccord.run.loop import make_simulator as make_simulator
    from roboaccord.run.loop import no_command as no_command
    from roboaccord.run.loop import reset_controller as reset_controller
    from roboaccord.run.loop import run_setup as run_setup
    from roboaccord.run.metrics import Figures as Figures
    from roboaccord.run.metrics import KeptMotion as KeptMotion
    from roboaccord.run.metrics import Motion as Motion
    from roboaccord.run.metrics import metrics_of as metrics_of
    from roboaccord.run.metrics import work_of as work_of
    from roboaccord.run.output import make_folder as make_folder
    from roboaccord.run.output import write_columns as write_columns
    from roboaccord.run.output import write_rows as write_rows
    from roboaccord.run.output import write_table as write_table
    from roboaccord.run.output import write_text as write_text
    from roboaccord.run.pieces import held as held
    from roboaccord.run.pieces import run_pieces as run_pieces
    from roboaccord.run.runner import Run as Run
    from roboaccord.run.runner import RunRequest as RunRequest
    from roboaccord.run.runner import run_direct as run_direct
    from roboaccord.run.versions import made_with as made_with
    from roboaccord.run.versions import versions_of as versions_of

__getattr__, __dir__, __all__ = lazy_names(__name__)
make_callable(__name__)
