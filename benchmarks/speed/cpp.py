"""Programs in C++ that are compiled against the headers of wheels, once, for peers.

They are kept in the folder `speed` of the environment, and are compiled again when their source is
newer. A small run compiles nothing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.speed.rows import SMALL

BUILD = Path(sys.prefix) / "speed"
# Boost's lists are to hold the joints of pinocchio, by whose wheel all is defined.
DEFINED = ("BOOST_MPL_LIMIT_LIST_SIZE=30", "BOOST_MPL_CFG_NO_PREPROCESSED_HEADERS", "NDEBUG")


def installed(path: str) -> Path | None:
    """Return a file or folder of wheels that are not in Python, by its path in their prefix."""
    return in_packages(f"cmeel.prefix/{path}")


def in_packages(path: str) -> Path | None:
    """Return a file or folder of a package, by its path in the folder of packages."""
    return next((found for each in sys.path if (found := Path(each, path)).exists()), None)


def compiled(
    source: Path, options: Sequence[str], headers: Sequence[Path], libraries: Sequence[Path] = ()
) -> tuple[Path | None, str]:
    """Compile a program; return its path, or the reason why there is none.

    Args:
        source: file in C++.
        options: of g++.
        headers: folders.
        libraries: files; their folders are searched when the program is run.
    """
    if not shutil.which("g++"):
        return None, "g++ is not installed"
    BUILD.mkdir(exist_ok=True)
    program = BUILD / source.stem
    files = [source, *source.parent.glob("*.hpp")]
    if program.exists() and program.stat().st_mtime >= max(f.stat().st_mtime for f in files):
        return program, ""
    if os.environ.get(SMALL):
        return None, "not compiled for a small run: it takes minutes"
    command = [
        "g++", "-w", "-std=c++17", *options, *(f"-D{name}" for name in DEFINED),
        *(f"-I{folder}" for folder in headers), str(source), "-o", str(program),
        *map(str, libraries), *(f"-Wl,-rpath,{file.parent}" for file in libraries), "-ldl",
    ]  # fmt: skip
    return (program, "") if not (why := failure(command)) else (None, why)


def failure(command: Sequence[str]) -> str:
    """Run a compiler; return its first error, or ""."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not done.returncode:
        return ""
    lines = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
    return f"{command[0]}: {next((line for line in lines if 'error' in line), lines[-1])}"
