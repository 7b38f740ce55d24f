"""What DART says on the way, from C++ on the standard error."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

MASSLESS = ("[Inertia::", "A negative or zero mass")  # of links of 0 kg, which are meant so


@contextmanager
def listen() -> Iterator[list[str]]:
    """Take down the lines that DART writes, which are shown to nobody; filled at the end."""
    lines = list[str]()
    sys.stderr.flush()
    kept = os.dup(2)
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as file:
        os.dup2(file.fileno(), 2)
        try:
            yield lines
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            file.seek(0)
            lines += file.read().splitlines()


def pass_on(lines: list[str]) -> None:
    """Write lines to the standard error, but for those about links without mass."""
    for line in lines:
        if not any(word in line for word in MASSLESS):
            sys.stderr.write(f"{line}\n")


def reason(lines: list[str]) -> str:
    """Return why DART does not read a description: its first error, behind a colon."""
    errors = (line.partition("Error:")[2].strip() for line in lines if "Error:" in line)
    return next((f": {error}" for error in errors), "")
