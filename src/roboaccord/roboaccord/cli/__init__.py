"""The command line `accord`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roboaccord.numerics.lazy import lazy_names

if TYPE_CHECKING:
    from roboaccord.cli import pieces as pieces
    from roboaccord.cli.command import Result as Result
    from roboaccord.cli.command import until_interrupted as until_interrupted
    from roboaccord.cli.command import used_by as used_by
    from roboaccord.cli.console import COMPILING as COMPILING
    from roboaccord.cli.console import ProgressObserver as ProgressObserver
    from roboaccord.cli.console import command_line as command_line
    from roboaccord.cli.console import counted as counted
    from roboaccord.cli.console import file_line as file_line
    from roboaccord.cli.console import log as log
    from roboaccord.cli.console import make_table as make_table
    from roboaccord.cli.console import progress as progress
    from roboaccord.cli.console import warn as warn
    from roboaccord.cli.folder import is_own as is_own
    from roboaccord.cli.folder import results as results
    from roboaccord.cli.main import complain as complain
    from roboaccord.cli.options import LARGEST as LARGEST
    from roboaccord.cli.options import Base as Base
    from roboaccord.cli.options import Changes as Changes
    from roboaccord.cli.options import Engine as Engine
    from roboaccord.cli.options import Faults as Faults
    from roboaccord.cli.options import Force as Force
    from roboaccord.cli.options import Out as Out
    from roboaccord.cli.options import Packages as Packages
    from roboaccord.cli.options import Seed as Seed
    from roboaccord.cli.options import Speed as Speed
    from roboaccord.cli.options import Stay as Stay
    from roboaccord.cli.options import choose_engines as choose_engines
    from roboaccord.cli.options import complete_bag_or_robot as complete_bag_or_robot
    from roboaccord.cli.options import complete_bag_or_scenario as complete_bag_or_scenario
    from roboaccord.cli.options import gathers as gathers
    from roboaccord.cli.options import load_setup as load_setup
    from roboaccord.cli.options import numbers as numbers
    from roboaccord.cli.options import one_scenario as one_scenario
    from roboaccord.cli.options import quantity as quantity
    from roboaccord.cli.options import read_packages as read_packages
    from roboaccord.cli.pieces import in_pieces as in_pieces
    from roboaccord.cli.pieces import kept as kept
    from roboaccord.cli.rendering import grid_of as grid_of
    from roboaccord.cli.rendering import lines_of as lines_of
    from roboaccord.cli.rendering import rendered as rendered
    from roboaccord.cli.rendering import tables_of as tables_of

__getattr__, __dir__, __all__ = lazy_names(__name__)
