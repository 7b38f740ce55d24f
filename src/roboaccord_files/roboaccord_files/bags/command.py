"""`accord recover`: a cut or damaged bag is made valid, in place.

The help may be changed. What is recovered, and what is reported as lost, is in recover.py; the keys
of `--json` stay. The libraries of bags are imported as it runs: `accord --help` needs none.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from roboaccord.cli.command import Result

Bag = Annotated[Path, typer.Argument(help="Bag folder, or one .mcap or .db3 file.")]


def recover_command(bag: Bag) -> Result:
    """Make a bag that was cut or damaged valid for `ros2 bag`, in place.

    It keeps everything before the damage, and reports what is lost. Not for a bag that is still
    being recorded.

    Example:

      accord recover runs/snake_serpenoid_reference/bag
    """
    from roboaccord_files.bags.recover import recover

    done = recover(bag)
    line = f"{bag} is complete with {done.messages} messages; nothing to do"
    if done.changed:
        line = f"recovered {done.messages} messages in {bag}"
    return Result({"changed": done.changed, "messages": done.messages}, [line])
