"""Run pip, and say how far it is: PYTHON .ci/install.py TITLE [OPTION ...] of `pip install`.

pip itself prints a thousand lines or none. What it warns of is shown only if it fails.

Files of the same content become one file with several names: a wheel cannot hold links, and comes
with a copy of a library for each of its names.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections import defaultdict
from contextlib import suppress
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--no-deps",
       "--no-input", "--progress-bar=off"]  # fmt: skip
BEGUN = ("Collecting ", "Obtaining ", "Processing ", "Requirement already satisfied: ")
PERIOD = 10.0  # s between lines where there is no terminal
WIDTH = 76  # characters of a line that is written over
SMALL = 1 << 14  # bytes; smaller copies stay


def main(title: str, *options: str) -> None:
    """Install; exit as pip does."""
    print(title, flush=True)
    progress = Progress(_count(options))
    with tempfile.TemporaryFile("w+") as errors:
        pip = subprocess.Popen(
            [*PIP, *options],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )
        threading.Thread(target=progress.show, daemon=True).start()
        try:
            for line in pip.stdout or ():
                progress.read(line.strip())
        except KeyboardInterrupt:
            pass
        status = pip.wait()
        if status == 0:
            link_copies(Path(sys.prefix))
        progress.end(failed=status != 0)
        if status:
            errors.seek(0)
            sys.stderr.writelines(each for each in errors if not each.startswith("WARNING: "))
    sys.exit(status)


class Progress:
    """What pip has done so far."""

    def __init__(self, total: int) -> None:
        self.total, self.begun, self.last = total, 0, "pip starts"
        self.unpacking = False
        self.start, self.ended = time.monotonic(), threading.Event()
        self.before = _installed()
        self.terminal = sys.stdout.isatty()

    def read(self, line: str) -> None:
        """Take a line of pip's."""
        self.total -= line.startswith("Ignoring ")  # a marker that does not match
        self.begun += line.startswith(BEGUN)
        if line.startswith("Installing collected packages"):
            self.unpacking, self.total = True, line.count(",") + 1
        elif line and not line.startswith(("Ignoring ", "Looking ")):
            self.last = re.split(r" \(|: ", line)[0]

    def show(self) -> None:
        """Show it again and again: in place on a terminal, else as lines."""
        while not self.ended.wait(0.2 if self.terminal else PERIOD):
            done, what = self.begun, self.last
            if self.unpacking:
                done, what = _installed() - self.before, "unpacked"
            line = f"  {self.seconds} s  {done} of {self.total}  {what}"[:WIDTH]
            print(f"\r{line:{WIDTH}}" if self.terminal else f"{line}\n", end="", flush=True)

    def end(self, *, failed: bool) -> None:
        """Show that pip has ended."""
        self.ended.set()
        folder = Path(sys.prefix)
        result = "failed" if failed else f"done; {folder.name} has {_size(folder)} MB"
        clear = f"\r{'':{WIDTH}}\r" if self.terminal else ""
        print(f"{clear}  {self.seconds} s  {result}", flush=True)

    @property
    def seconds(self) -> int:
        """Time since the start [s]."""
        return round(time.monotonic() - self.start)


def link_copies(folder: Path) -> None:
    """Replace copies of a file by hard links, where the file system has them."""
    same = defaultdict[tuple[int, bytes], list[Path]](list)
    for size, paths in _by_size(folder).items():
        for path in paths if len(paths) > 1 else ():
            same[size, sha256(path.read_bytes()).digest()].append(path)
    for first, *others in same.values():
        for path in others:
            draft = path.with_name(f".{path.name}.link")
            with suppress(OSError):
                if not path.samefile(first):
                    draft.hardlink_to(first)
                    draft.replace(path)


def _by_size(folder: Path) -> dict[int, list[Path]]:
    """Return the files that are not small, by their size."""
    found = defaultdict[int, list[Path]](list)
    for root, _, names in os.walk(folder):
        for path in (Path(root, name) for name in names):
            if not path.is_symlink() and (size := path.stat().st_size) >= SMALL:
                found[size].append(path)
    return found


def _installed() -> int:
    """Return how many packages are installed."""
    return sum(1 for _ in Path(sysconfig.get_path("purelib")).glob("*.dist-info"))


def _count(options: tuple[str, ...]) -> int:
    """Return how many packages the options ask for."""
    locks = [Path(name).read_text() for option, name in pairwise(options) if option == "-r"]
    return options.count("-e") + len(re.findall(r"^[a-z].*?==", "".join(locks), re.MULTILINE))


def _size(folder: Path) -> int:
    """Return what a folder takes of the disk [MB]."""
    blocks = {}  # by file, whatever its names
    for root, _, names in os.walk(folder):
        for path in (Path(root), *(Path(root, name) for name in names)):
            blocks[path.lstat().st_ino] = path.lstat().st_blocks
    return round(sum(blocks.values()) * 512 / 1e6)


if __name__ == "__main__":
    main(*sys.argv[1:])
