"""Processes of a launch, as plain data that a launch file turns into actions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Value = bool | int | float | str | Sequence[str]  # of a parameter
Meaning = Literal["ends", "part", "helper", "window", "window_ends", "view", "once"]


@dataclass(frozen=True, kw_only=True)
class Process:
    """Describe one process.

    Args:
        name: of the node; of the process alone where `command` is given.
        module: of the workspace that is run in its own Python; or
        package, executable: an executable of ROS; or
        command: any other program.
        arguments, parameters, remappings: of a node.
        env: what is added to the environment.
        cores: on which it may run; on all if empty.
        meaning: of its end. `ends`: the run is over; `part`: it ends by itself after the run;
            `helper`: it must last as long as the run; `window`: it may be closed, and the launch
            waits for that after the run; `window_ends`: and closing it ends the run; `view`: it may
            end early, and ends with the launch; `once`: processes that come `after` it may start.
        after: name of the process whose good end this one waits for.
        within: how long it may take [s]; without limit if 0.
        late: what it then waits for.
    """

    name: str
    meaning: Meaning
    module: str = ""
    package: str = ""
    executable: str = ""
    command: Sequence[str] = ()
    arguments: Sequence[str] = ()
    parameters: Mapping[str, Value] = field(default_factory=dict)
    remappings: Sequence[tuple[str, str]] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cores: Sequence[int] = ()
    after: str = ""
    within: float = 0.0
    late: str = ""
