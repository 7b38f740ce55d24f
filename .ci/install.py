"""Run pip, and say how far it is: PYTHON .ci/install.py TITLE [OPTION ...] of `pip install`.

pip itself prints a thousand lines or none. What it warns of is shown only if it fails.

Files of the same content become one file with several names: a wheel cannot hold links, and comes
with a copy of a library for each of its names.
"""

from __future__ import annotations

import filecmp
import re
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections import defaultdict
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

PIP = [sys.executable, "-u", "-m", "pip", "--disable-pip-version-check", "install", "--no-deps",
       "--no-input", "--progress-bar=off"]  # fmt: skip
BEGUN = ("Collecting ", "Obtaining ", "Processing ", "Requirement already satisfied: ")
WIDTH = 76  # characters of a line that is written over
PERIOD, ON_TERMINAL = 10.0, 0.2  # s between lines, and in place
SMALL = 1 << 14  # bytes; smaller copies stay


def main(title: str, *options: str) -> None:
    """Install; exit as pip does."""
    print(title, flush=True)
    start, terminal = time.monotonic(), sys.stdout.isatty()

    def show(words: str, end: str = "\n") -> None:
        line = f"  {time.monotonic() - start:.0f} s  {words}"[:WIDTH]
        print(f"{line:{WIDTH}}" if terminal else line, end=end, flush=True)

    asked, before, status = _asked(options), _installed(), None
    with tempfile.NamedTemporaryFile() as log, tempfile.TemporaryFile("w+") as errors:
        pip = subprocess.Popen([*PIP, *options], stdout=log, stderr=errors)
        while status is None:
            with suppress(subprocess.TimeoutExpired, KeyboardInterrupt):  # pip ends on ^C, too
                status = pip.wait(ON_TERMINAL if terminal else PERIOD)
            if status is None:
                done = progress(Path(log.name).read_text(), asked, _installed() - before)
                show(done, end="\r" if terminal else "\n")
        if status == 0:
            folder = Path(sys.prefix)
            link_copies(folder)
            show(f"done; {folder.name} has {_size(folder)} MB")
        else:
            show("failed")
            errors.seek(0)
            sys.stderr.writelines(each for each in errors if not each.startswith("WARNING: "))
    sys.exit(status)


def progress(output: str, asked: int, unpacked: int) -> str:
    """Return how many packages pip has begun or unpacked, of how many, and what it says last."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    for line in lines:
        if line.startswith("Installing collected packages"):
            return f"{unpacked} of {line.count(',') + 1}  unpacked"
    ignored = sum(line.startswith("Ignoring ") for line in lines)  # a marker does not match
    begun = sum(line.startswith(BEGUN) for line in lines)
    told = [line for line in lines if not line.startswith(("Ignoring ", "Looking "))]
    last = re.split(r" \(|: ", told[-1])[0] if told else "pip starts"
    return f"{begun} of {asked - ignored}  {last}"


def link_copies(folder: Path) -> None:
    """Replace copies of a file by hard links, where the file system has them."""
    firsts = defaultdict[int, list[Path]](list)  # by size
    for path in sorted(folder.rglob("*")):
        size = path.lstat().st_size
        if size < SMALL or path.is_symlink() or not path.is_file():
            continue
        same = [first for first in firsts[size] if filecmp.cmp(first, path, shallow=False)]
        if not same:
            firsts[size].append(path)
        elif not path.samefile(same[0]):
            draft = path.with_name(f".{path.name}.link")
            with suppress(OSError):
                draft.hardlink_to(same[0])
                draft.replace(path)


def _installed() -> int:
    """Return how many packages are installed."""
    return sum(1 for _ in Path(sysconfig.get_path("purelib")).glob("*.dist-info"))


def _asked(options: tuple[str, ...]) -> int:
    """Return how many packages the options ask for."""
    locks = [Path(name).read_text() for option, name in pairwise(options) if option == "-r"]
    return options.count("-e") + len(re.findall(r"^[a-z].*?==", "".join(locks), re.MULTILINE))


def _size(folder: Path) -> int:
    """Return what a folder takes of the disk [MB]."""
    used = subprocess.check_output(["du", "-sk", folder], text=True)  # a linked file counts once
    return round(int(used.split()[0]) * 1024 / 1e6)


if __name__ == "__main__":
    main(*sys.argv[1:])
