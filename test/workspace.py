"""Helpers of the top-level tests: the packages, a clean copy of the repository, `accord`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from roboaccord.contract import plugins

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = sorted(path.parent.name for path in ROOT.glob("src/*/setup.py"))
PARTS = ("requirements", "src", "launch", "worlds", "models", "config")
MADE = ("*.egg-info", "__pycache__", "build", "install", "log", "runs", ".*")
SHORT_RUN = "run snake serpenoid --transport direct --set duration=0.02 --json".split()
# What a test run, or a ROS installation, must not lend to the commands under test.
FOREIGN = ("PYTHONPATH", "AMENT_PREFIX_PATH", "COLCON_PREFIX_PATH", "VIRTUAL_ENV", "PYTEST_ADDOPTS")


def copy_repository(target: Path) -> Path:
    """Copy what packages are built from, as it is in git, links kept; return the copy."""
    target.mkdir(parents=True)
    for name in PARTS:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(
                source, target / name, symlinks=True, ignore=shutil.ignore_patterns(*MADE)
            )
        elif source.exists():
            shutil.copy2(source, target / name)
    return target


def clean_environment(**extra: str) -> dict[str, str]:
    """Return the environment without what points at installed packages."""
    kept = {key: value for key, value in os.environ.items() if key not in FOREIGN}
    return {**kept, **extra}


def call(
    command: Sequence[str | Path],
    cwd: Path,
    environment: Mapping[str, str] | None = None,
    timeout: float = 120,
) -> subprocess.CompletedProcess[str]:
    """Run a command with nothing to read, and return what it printed."""
    return subprocess.run(
        [str(word) for word in command], cwd=cwd, env=dict(environment or clean_environment()),
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout, check=False,
    )  # fmt: skip


def succeed(done: subprocess.CompletedProcess[str]) -> str:
    """Return the output of a command that must have succeeded."""
    assert done.returncode == 0, f"{done.args}: {done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout


def accord(*words: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `accord` of the Python that runs the tests; PYTHONPATH comes before that of the tests."""
    if "PYTHONPATH" in environment:
        paths = [environment["PYTHONPATH"], os.environ.get("PYTHONPATH", "")]
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    command = [sys.executable, "-m", "roboaccord.cli.main", *words]
    return call(command, cwd, {**os.environ, **environment})


def make_python(folder: Path) -> Path:
    """Make a virtual environment that sees this one's libraries; return its Python.

    Its search path has this environment's folders, but not their .pth files, so the editable
    installs of the local packages stay out of it.
    """
    succeed(call([sys.executable, "-m", "venv", "--without-pip", folder], folder.parent))
    found = next(folder.glob("lib/python3*/site-packages"))
    others = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    (found / "libraries.pth").write_text("\n".join(others) + "\n", encoding="utf-8")
    return folder / "bin" / "python"


def python_without(away: Collection[str], root: Path, folder: Path) -> Path:
    """Make a virtual environment with the packages of `root` but some; return its Python.

    It has links to this environment's libraries, and what these packages add by entry points.
    """
    succeed(call([sys.executable, "-m", "venv", "--without-pip", folder], folder.parent))
    site = next(folder.glob("lib/python3*/site-packages"))
    others = [Path(path) for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    for path in (path for other in others for path in other.iterdir()):
        name = path.name.partition("-")[0]
        package = name if name in PACKAGES else name.removeprefix("roboaccord_")
        ours = name.startswith("__editable__") or path.name in PACKAGES or package in away
        if not ours and not (site / path.name).exists():
            (site / path.name).symlink_to(path)
    for path in Path(sys.prefix, "lib").iterdir():  # of wheels of ROS
        if not (folder / "lib" / path.name).exists():
            (folder / "lib" / path.name).symlink_to(path)
    for name in {*PACKAGES} - {*away}:
        (site / name).symlink_to(root / "src" / name / name)
    return folder / "bin" / "python"


def locked(lock: str) -> list[str]:
    """Return the requirements of a lock, without hashes."""
    text = (ROOT / "requirements" / f"{lock}.txt").read_text(encoding="utf-8")
    return [line.rstrip(" \\") for line in text.splitlines() if not line.startswith(" ")]


def need_all_robots() -> None:
    """Skip a test of what is made of all robots, or names them all, with the one that is away."""
    for name, added in yaml.safe_load(plugins.INDEX.read_text("utf-8")).items():
        if "robots" in added:
            pytest.importorskip(name, reason=f"{name} is not installed")


def read_json(text: str) -> dict[str, Any]:
    """Return the JSON object that a command printed, and nothing else."""
    data = json.loads(text)
    assert isinstance(data, dict)
    return data


def set_numba(patch: pytest.MonkeyPatch, name: str, value: str | int) -> None:
    """Change a setting of numba, which reads all again when its environment has changed."""
    patch.setenv(f"NUMBA_{name}", str(value))
    patch.setattr(f"numba.config.{name}", value)
