"""SDFormat's own tool, where it is installed: its version, and the SDF that it prints.

A name of the tool on another system may be added to TOOLS, and how it is installed to INSTALL.
PRINTING may be raised. `accord check` uses the same tool.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from functools import cache
from xml.parsers import expat

from roboaccord.contract.errors import AccordError
from roboaccord.description.source import parse_lines
from roboaccord.numerics.isolation import COLOUR

TOOLS = ("gz", "ign")
INSTALL = "apt-get install ignition-tools libsdformat-dev sdformat-sdf"  # on Debian 12
PRINTING = 600.0  # s of wall time: it only ends a tool that hangs


def sdformat_tool() -> str:
    """Return the command that has `sdf -k`, or "" where sdformat's checker is missing."""
    for tool in TOOLS:
        if shutil.which(tool):
            answer = subprocess.run([tool, "sdf", "--help"], capture_output=True, check=False)
            if answer.returncode == 0 and b"SDF" in answer.stdout:
                return tool
    return ""


@cache
def tool_version() -> str:
    """Return the tool and its version.

    Raises:
        AccordError: where neither `gz sdf` nor `ign sdf` is installed.
    """
    if not (tool := sdformat_tool()):
        raise AccordError(f"sdformat is not installed: {INSTALL}")
    words = [tool, "sdf", "--versions"]
    answer = subprocess.run(words, capture_output=True, text=True, check=False)
    return f"{tool} sdf {' '.join(answer.stdout.split()) or 'of unknown version'}"


def print_sdf(text: str, models: str = "") -> ET.Element:
    """Return the SDF that SDFormat's tool makes of a URDF, or of SDF.

    Names keep their prefixes, which the tool does not declare: `gz:`, `ignition::`, or any in
    `<gazebo>`.

    Args:
        text: of a file.
        models: folder of models, for `model://NAME`.

    Raises:
        AccordError: if it reports errors, or prints no SDF.
        subprocess.TimeoutExpired: if it does not answer.
    """
    tool = tool_version().split()[0]
    where = {**os.environ, "SDF_PATH": models} if models else None
    with tempfile.NamedTemporaryFile("w", suffix=".urdf", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        done = subprocess.run(
            [tool, "sdf", "-p", file.name], env=where,
            capture_output=True, text=True, errors="replace", check=False, timeout=PRINTING,
        )  # fmt: skip
    messages = [line for line in done.stderr.splitlines() if "Library error" not in line]
    sys.stderr.write("".join(f"{line}\n" for line in messages))  # in the tool's own words
    text = done.stdout[max(done.stdout.find("<sdf"), 0) :]
    try:
        return parse_lines(text)[0]
    except expat.ExpatError:
        lines = [line.strip() for line in done.stderr.splitlines() if "rror" in line]
        errors = [line for line in lines if "Library error" not in line]
        reason = COLOUR.sub("", (errors or ["no SDF"])[0])
        raise AccordError(f"sdformat refuses it: {reason[:200]}") from None
