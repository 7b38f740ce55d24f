"""Copies of the tree, and processes that run tests in them: as nobody, where root starts them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from roboaccord.contract.errors import AccordError

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
# The user `nobody` of Linux, who owns no file.
NOBODY = 65534


@dataclass
class Server:
    """A copy of the tree, and the process that runs tests in it."""

    folder: Path
    process: subprocess.Popen[str]

    def run(
        self, words: list[str], cpu: float, only: Sequence[str] = (), **environment: str
    ) -> dict[str, Any]:
        """Run pytest in the copy, only some tests where they are named."""
        job = {
            "words": words, "only": only, "cpu": cpu, "wall": 60.0 + 8.0 * cpu,
            "environment": environment, "log": str(self.folder / "log"),
        }  # fmt: skip
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise AccordError(f"the process of the tests ended: {self.folder / 'errors'}")
        found: dict[str, Any] = json.loads(line)
        return found


@contextmanager
def copies(count: int) -> Iterator[list[Path]]:
    """Give copies of what git has of the tree, and remove them in the end."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    files = [Path(name) for name in listed.split("\0") if name]
    for beside in ("src/*/*.egg-info/*", "src/**/__pycache__/*.nb?"):  # names, compiled kernels
        files += [p.relative_to(ROOT) for p in ROOT.glob(beside) if p.is_file()]
    with tempfile.TemporaryDirectory(prefix="mutation_", ignore_cleanup_errors=True) as top:
        Path(top).chmod(0o755)
        found = [Path(top, f"tree_{i}") for i in range(count)]
        for copy in found:
            for file in files:
                if (ROOT / file).is_file() or (ROOT / file).is_symlink():
                    (copy / file).parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(ROOT / file, copy / file, follow_symlinks=False)
            give_away(copy)
        yield found


def give_away(folder: Path) -> None:
    """Let nobody own a folder, where this user is root."""
    if os.getuid() == 0:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)


@contextmanager
def serving(folder: Path) -> Iterator[Server]:
    """Start the process that runs tests in a copy, and end it."""
    here = folder / HERE.relative_to(ROOT)  # nobody may not read the tree, perhaps
    sources = [str(folder / "src" / path.name) for path in (folder / "src").iterdir()]
    (folder / "tmp").mkdir(exist_ok=True)
    give_away(folder / "tmp")
    environment = {
        "PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join([*sources, str(here)]),
        "HOME": str(folder / "tmp"), "TMPDIR": str(folder / "tmp"), "OMP_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1", "MPLBACKEND": "Agg", "TERM": "dumb",
        "MPLCONFIGDIR": str(folder / "tmp"), "ROS_LOCALHOST_ONLY": "1",
    }  # fmt: skip
    who = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.getuid() == 0 else {}
    with (folder / "errors").open("w") as errors:
        try:
            process = subprocess.Popen(
                [sys.executable, str(here / "server.py")], cwd=folder, env=environment, text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, **who,
            )  # type: ignore[call-overload]  # fmt: skip
        except PermissionError:
            raise AccordError(
                f"nobody may not run {sys.executable}: start this command as another user than root"
            ) from None
    try:
        yield Server(folder, process)
    finally:
        process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(5.0)
        process.kill()
