"""The checker of sdformat: `gz sdf -k`, or `ign sdf -k` as Debian has it, where it is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

TOOLS = ("gz", "ign")
# Debian's ign says this of itself, whatever the file.
NOT_ABOUT_THE_FILE = "libignition-tools-backward.so not found"
TIMEOUT = 60.0  # s, of a check


@dataclass(frozen=True)
class Undecided:
    """Say why nothing is known of a file."""

    reason: str

    def __str__(self) -> str:
        return f"undecided: {self.reason}"

    to_json = __str__


Problem = str | Undecided
"""A line about a file: what is wrong, or why that is not known."""


def sdformat_tool() -> str:
    """Return the command that has `sdf -k`, or "" where sdformat's checker is missing."""
    for tool in TOOLS:
        if shutil.which(tool):
            known = subprocess.run([tool, "sdf", "--help"], capture_output=True, check=False)
            if known.returncode == 0 and b"SDF" in known.stdout:
                return tool
    return ""


def sdformat_problems(tool: str, path: Path, models: Sequence[Path]) -> list[Problem]:
    """Return what sdformat says about a file; anything on its stderr is a problem.

    It is undecided where it took too long, of a slow machine perhaps.

    Args:
        tool: as `sdformat_tool` gives it.
        path: SDF or URDF.
        models: folders for `model://NAME`.
    """
    folders = os.pathsep.join(str(folder) for folder in models)
    try:
        done = subprocess.run(
            [tool, "sdf", "-k", str(path)],
            capture_output=True,
            text=True,
            errors="replace",
            env={**os.environ, "SDF_PATH": folders, "GZ_SIM_RESOURCE_PATH": folders},
            check=False,
            timeout=TIMEOUT,
        )
    except subprocess.TimeoutExpired:
        return [Undecided(f"no answer of sdformat in {TIMEOUT:g} s")]
    said = [line for line in done.stderr.splitlines() if NOT_ABOUT_THE_FILE not in line]
    problems: list[Problem] = [f"sdformat: {line.strip()}" for line in said if line.strip()]
    if not problems and (done.returncode or "Valid." not in done.stdout):
        problems.append(f"sdformat: {done.stdout.strip() or f'status {done.returncode}'}")
    return problems
