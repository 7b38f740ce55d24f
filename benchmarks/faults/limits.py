"""Run commands under limits, and look at how they end: `make limits ONLY=sweep`.

Address space, open files and the size of files, which stands for a full disk, are limited in steps.
A command then does its work, or ends with status 2 and one line that is no traceback; it never
hangs, crashes or leaves a process.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from kills import URDFS, become_nobody
from roboaccord.cli.console import make_table, out

RUN = "run snake serpenoid --set duration=.1 --out {out} --transport"
COMMANDS = {
    **{name: f"{RUN} {name}" for name in ("direct", "ros", "ros_processes")},
    "crosscheck": "crosscheck snake serpenoid --set duration=.1 --out {out}",
    "sweep": "sweep monkeybot level --figure travel --seeds 4 --set duration=1 --out {out}",
    "parity": "parity {urdfs} --page {out}/page.html",
    "landscape": "monkeybot landscape --limit .1 --out {out}",
}
MB = 10**6
# From too little to import anything to more than a run takes, where each message is another.
LIMITS = {
    "address space": (resource.RLIMIT_AS, [n * MB for n in (300, 450, 650, 1100, 1300, 1800)]),
    "open files": (resource.RLIMIT_NOFILE, [8, 12, 16, 20, 24, 40]),
    "size of files": (resource.RLIMIT_FSIZE, [1_000, 30_000]),
}
HANGS = 300.0  # s: longer than compiling takes


def main() -> int:
    """Try each limit on each command; return 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default=",".join(COMMANDS), help="names, with commas between")
    names = parser.parse_args().only.split(",")
    table = make_table("command", "limit", "value", "status", "s", "message", text=["message"])
    bad = 0
    with tempfile.TemporaryDirectory(prefix="limits_") as folder:
        become_nobody(Path(folder))
        for name in names:
            for what, (limit, values) in LIMITS.items():
                for value in values:
                    status, spent, message, wrong = tried(name, limit, value, Path(folder) / "out")
                    table.add_row(
                        name, what, f"{value}", f"{status}", f"{spent:.1f}", message[-90:]
                    )
                    bad += wrong
    out.print(table)
    out.print(f"wrong: {bad}")
    return 1 if bad else 0


def tried(name: str, limit: int, value: int, folder: Path) -> tuple[int, float, str, bool]:
    """Run a command under a limit: its status, time [s] and words, and whether that is wrong."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    words = COMMANDS[name].format(out=folder, urdfs=URDFS).split()
    begun = time.monotonic()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "roboaccord.cli.start", *words], timeout=HANGS,
            capture_output=True, text=True, check=False, start_new_session=True,
            preexec_fn=lambda: resource.setrlimit(limit, (value, value)),
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return -1, HANGS, "hangs", True
    lines = done.stderr.splitlines() or [""]
    one = sum(line.startswith("accord: ") for line in lines) == 1 and "Traceback" not in done.stderr
    wrong = done.returncode not in (0, 1, 2) or (done.returncode == 2 and not one)
    return done.returncode, time.monotonic() - begun, lines[-1], wrong or "Traceback" in done.stderr


if __name__ == "__main__":
    sys.exit(main())
