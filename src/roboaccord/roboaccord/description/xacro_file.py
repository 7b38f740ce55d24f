"""Expansion of xacro files, the single source for Gazebo, DART, MuJoCo and RViz."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

from roboaccord.contract.errors import AccordError
from roboaccord.numerics.machine import python

NO_ARGUMENTS: Mapping[str, str] = MappingProxyType({})
SECONDS = 20  # of processor time for a file of anybody; the largest of 69 public ones takes 3
MEMORY = 2 << 30  # bytes
WAITING = 600.0  # s, by the clock, for that time on a busy machine
TOO_MUCH = f"{SECONDS} s or {MEMORY >> 30} GB to expand"
_APART = """
import json, sys
job = json.load(sys.stdin)
sys.path[:] = job["search"]
from roboaccord.description.xacro_file import answer_apart
print(answer_apart(job))
"""


def expand_xacro(
    path: Path, arguments: Mapping[str, str], find: Callable[[str], str] | None = None
) -> str:
    """Return the URDF of a xacro file.

    Args:
        path: of the file.
        arguments: of the xacro.
        find: gives the folder of a package for `$(find NAME)`, where ament is not to be asked.

    Raises:
        AccordError: if the file is broken.
    """
    import xacro

    try:
        with _finding(find):
            text: str = xacro.process_file(str(path), mappings=dict(arguments)).toxml()
    except Exception as error:  # noqa: BLE001 - xacro raises whatever its expressions do
        inner = getattr(error, "exc", None)  # which xacro wraps
        message = str(inner if isinstance(inner, AccordError) else error)
        reason = (message.splitlines() or [type(error).__name__])[0]
        raise AccordError(f"broken description {path.name}: {reason}") from None
    return text


def expand_apart(
    path: Path, packages: Mapping[str, Path], arguments: Mapping[str, str] = NO_ARGUMENTS
) -> str:
    """Return the URDF of a xacro file of anybody, expanded in a process of bounded time and memory.

    What stands between `${` and `}` is Python, which may take any time, and any memory.

    Args:
        path: of the file.
        packages: folders of ROS packages by name.
        arguments: of the xacro.

    Raises:
        AccordError: if the file is broken, or takes too much.
    """
    job = {
        "path": str(path),
        "arguments": dict(arguments),
        "packages": {name: str(folder) for name, folder in packages.items()},
        "search": sys.path,
        "limits": [SECONDS, MEMORY],
    }
    try:
        done = subprocess.run(
            python("-c", _APART),
            input=json.dumps(job), capture_output=True, text=True, check=False, timeout=WAITING,
        )  # fmt: skip
        answer = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        answer = {"error": f"cannot expand {path.name}: no answer in {WAITING:g} s"}
    except ValueError:
        answer = {"error": f"broken description {path.name}: it takes more than {TOO_MUCH}"}
    if "error" in answer:
        raise AccordError(answer["error"])
    return str(answer["text"])


def answer_apart(job: Mapping[str, Any]) -> str:
    """Return the answer of the other process of `expand_apart`, in JSON."""
    from roboaccord.description.resources import package_folders

    seconds, memory = job["limits"]
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    path = Path(job["path"])
    packages = {name: Path(folder) for name, folder in job["packages"].items()}

    def find(package: str) -> str:
        for folder in package_folders(package, path, packages):
            if folder.is_dir():
                return str(folder)
        raise AccordError(f"package {package} is not found: --package {package}=DIR")

    try:
        return json.dumps({"text": expand_xacro(path, job["arguments"], find)})
    except AccordError as error:
        return json.dumps({"error": str(error)})


@contextmanager
def _finding(find: Callable[[str], str] | None) -> Iterator[None]:
    """Let xacro ask `find` for packages: it has no argument for that."""
    from xacro import substitution_args

    own = substitution_args._eval_find
    substitution_args._eval_find = find or own
    try:
        yield
    finally:
        substitution_args._eval_find = own
