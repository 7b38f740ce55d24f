"""SDFormat's own command-line tool, where it is installed: its version, and the SDF that it prints.

SDF is the format of Gazebo's robots and worlds, and SDFormat the library that reads it. Its tool is
called `gz sdf` or, in older releases, `ign sdf`. It checks SDF (`-k`, used by `accord check`) and
converts URDF to SDF (`-p`), which shows how Gazebo itself understands a file. The tool of another
system is added to TOOLS, and the way to install it to INSTALL.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from functools import cache
from typing import Any
from xml.parsers import expat

from roboaccord.contract.errors import AccordError
from roboaccord.description.source import parse_lines
from roboaccord.numerics.isolation import COLOUR_SEQUENCE

TOOLS = ("gz", "ign")  # commands, newest first
INSTALL = "apt-get install ignition-tools libsdformat-dev sdformat-sdf"  # on Debian 12
TIMEOUT = 600.0  # s of wall time for an answer; only a tool that hangs reaches it
LONGEST_REASON = 200  # characters of the tool's error in a message: three lines of a terminal


def sdformat_tool() -> str:
    """Return the name of the installed tool, "gz" or "ign"; "" where there is none."""
    for tool in TOOLS:
        if shutil.which(tool):
            answer = _run([tool, "sdf", "--help"])
            if answer.returncode == 0 and "SDF" in answer.stdout:
                return tool
    return ""


def _run(words: Sequence[str], **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a command, with further options of `subprocess.run`, and return what it printed."""
    options = {"capture_output": True, "text": True, "errors": "replace", **options}
    return subprocess.run(words, check=False, **options)


@cache
def tool_version() -> str:
    """Return the tool and its version, such as "gz sdf 14.2.0".

    Raises:
        AccordError: where neither `gz sdf` nor `ign sdf` is installed.
    """
    if not (tool := sdformat_tool()):
        raise AccordError(f"sdformat is not installed: {INSTALL}")
    answer = _run([tool, "sdf", "--versions"])
    return f"{tool} sdf {' '.join(answer.stdout.split()) or 'of unknown version'}"


def print_sdf(text: str, models: str = "") -> ET.Element:
    """Return the SDF that SDFormat's tool prints for a URDF or SDF file.

    The tool prints prefixes of names without declaring them as XML namespaces (`gz:`, and any in
    `<gazebo>`); they stay part of the names.

    Args:
        text: content of the file.
        models: folder in which `model://NAME` is looked up.

    Raises:
        AccordError: if the tool reports errors, or prints no SDF.
        subprocess.TimeoutExpired: if it does not answer within TIMEOUT.
    """
    printed, refusal = _ask("-p", text, models)
    try:
        return parse_lines(printed[max(printed.find("<sdf"), 0) :])[0]
    except expat.ExpatError:
        raise refusal from None


def load_sdf(text: str, models: str = "") -> None:
    """Let SDFormat's tool load a URDF or SDF file, as Gazebo does, which `print_sdf` does not.

    Loading refuses more than printing, such as an inertia that no body has.

    Args:
        text: content of the file.
        models: folder in which `model://NAME` is looked up.

    Raises:
        AccordError: if the tool reports errors.
        subprocess.TimeoutExpired: if it does not answer within TIMEOUT.
    """
    printed, refusal = _ask("-k", text, models)
    if "Valid." not in printed:  # which it prints beside errors that do not keep it from loading
        raise refusal


def _ask(option: str, text: str, models: str) -> tuple[str, AccordError]:
    """Return what SDFormat's tool prints about a text, and the error if that is not enough."""
    tool = tool_version().split()[0]
    environment = {**os.environ, "SDF_PATH": models} if models else None
    with tempfile.NamedTemporaryFile("w", suffix=".urdf", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        answer = _run([tool, "sdf", option, file.name], env=environment, timeout=TIMEOUT)
    # A line with "Library error" states only that the library failed: the reason is in others.
    messages = [line for line in answer.stderr.splitlines() if "Library error" not in line]
    sys.stderr.write("".join(f"{line}\n" for line in messages))  # the tool's messages, unchanged
    errors = [line.strip() for line in messages if "Error" in line or "error" in line]
    reason = COLOUR_SEQUENCE.sub("", (errors or ["no SDF"])[0])
    return answer.stdout, AccordError(f"sdformat refuses it: {reason[:LONGEST_REASON]}")
