"""Folders of results: each is marked by the command that wrote it, and no other may write into it.

A file MARKER in the folder names the command and lists the files that it wrote. `results` is the
context manager in which a command writes its results, for its option `--out`: it checks the folder,
marks it, and lists the new files at the end. With `--force` the files that the marker lists are set
aside first, deleted when the command has succeeded, and put back when it fails.

For the safety of users' files the following must stay: only files that a marker of this user lists
are ever deleted, and links are never followed (test_writers tries links, foreign markers and other
files in between). MARKER and its keys are in folders on users' disks.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from roboaccord.cli.console import call
from roboaccord.contract import VERSION, AccordError
from roboaccord.contract.files import is_file, read_text, written
from roboaccord.run.output import fresh, make_folder, write_text

MARKER = ".roboaccord.json"  # name of the marker file
# Files of a folder that a message names at most. By choice: they show what the folder holds, and
# further ones are counted.
NAMED_FILES = 3


@dataclass(frozen=True)
class Marker:
    """A folder's marker: the command, and the files that it wrote, relative to the folder."""

    command: str
    files: tuple[str, ...] = ()

    @classmethod
    def of(cls, folder: Path) -> Marker | None:
        """Return the marker of a folder; None if it has none, or another user wrote it."""
        try:
            file_status = (folder / MARKER).lstat()
            if not stat.S_ISREG(file_status.st_mode) or file_status.st_uid != os.geteuid():
                return None
            content = json.loads(read_text(folder / MARKER))
            return cls(str(content["command"]), tuple(map(str, content["files"])))
        except (AccordError, OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def write(self, folder: Path) -> None:
        """Write the marker."""
        data = {"command": self.command, "version": VERSION, "files": self.files}
        write_text(folder / MARKER, json.dumps(data, indent=1))


@contextmanager
def results(
    folder: Path | None, default: str, *, force: bool = False, adds: bool = False
) -> Iterator[Path]:
    """Yield the folder for the results of the running command, and mark it as that command's.

    A folder that is new, empty or marked by the same command is used as it is. With `force` any
    folder is used: the files that its marker lists, and no others, are set aside; they are deleted
    when the command has succeeded, and put back if it fails. A new folder in which nothing was
    written is removed again.

    Args:
        folder: that `--out` names; None for a new one under runs/.
        default: name of a new folder under runs/.
        force: use the folder whatever it holds.
        adds: the command adds files to the folder and replaces its own, so nothing is set aside.

    Raises:
        AccordError: if the folder holds anything else, or cannot be written.
    """
    top = folder or fresh(Path("runs") / default)
    if not adds and not force:
        check_folder(top)
    aside = set_aside(top) if force and not adds else None
    is_new = not top.exists()
    old_marker = Marker.of(top)
    make_folder(top)
    paths_before = {top, *top.rglob("*")}
    command = call.get().name
    Marker(command, old_marker.files if old_marker else ()).write(top)
    try:
        yield top
    except BaseException:
        if aside:
            put_back(aside, top)
            old_marker = Marker.of(top)
        raise
    else:
        if aside:
            shutil.rmtree(aside)
    finally:
        # List the command's files in the marker, or remove a folder that stayed empty.
        old_files = old_marker.files if old_marker else ()
        files = [n for n in files_in(top) if n in old_files or _was_written(top / n, paths_before)]
        if files or old_marker:
            Marker(command, tuple(sorted(files))).write(top)
        else:
            (top / MARKER).unlink(missing_ok=True)
            if is_new:
                with suppress(OSError):
                    top.rmdir()


def _was_written(file: Path, before: set[Path]) -> bool:
    """Return whether the running command wrote a file.

    Either this process wrote it, or it is in a folder that did not exist before: worker processes
    write into folders of their own.
    """
    return file.absolute() in written or (file not in before and file.parent not in before)


def is_own(top: Path) -> bool:
    """Return whether a folder is marked by the running command."""
    marker = Marker.of(top)
    return marker is not None and marker.command == call.get().name


def check_folder(top: Path) -> None:
    """Refuse a folder that holds anything but results of the running command.

    Raises:
        AccordError: naming what the folder holds.
    """
    marker = Marker.of(top)
    command = call.get().name
    names = sorted(path.name for path in top.iterdir()) if top.is_dir() else []
    if names and marker is None:
        others = f" and {len(names) - NAMED_FILES} more" if len(names) > NAMED_FILES else ""
        content = f"{', '.join(names[:NAMED_FILES])}{others}, not results of accord {command}"
        raise AccordError(f"{top} holds {content}: choose another --out, or add --force")
    if marker and marker.command != command:
        advice = "choose another --out, or replace them with --force"
        raise AccordError(f"{top} holds results of accord {marker.command}: {advice}")


def set_aside(top: Path) -> Path | None:
    """Move the files that a folder's marker lists, and the marker, into a new folder beside it.

    Links stay where they are, and so do files that the marker lists outside the folder.

    Returns:
        the new folder; None where there is no marker.

    Raises:
        AccordError: if a file cannot be moved.
    """
    marker = Marker.of(top)
    if marker is None:
        return None
    resolved = top.resolve()
    aside = None
    try:
        aside = Path(tempfile.mkdtemp(prefix=f".{resolved.name}_", dir=resolved.parent))
        for name in (*marker.files, MARKER):
            path = resolved / name
            if resolved in path.parents and is_file(path) and path.resolve() == path:
                _move(path, aside / name)
                _remove_empty(path.parent, resolved)
    except OSError as error:
        if aside:
            put_back(aside, top)
        raise AccordError(f"cannot replace what is in {top}: {error.strerror}") from None
    return aside


def put_back(aside: Path, top: Path) -> None:
    """Move files that were set aside back into the folder `top`, over newer ones."""
    for name in (*files_in(aside), *([MARKER] if (aside / MARKER).exists() else ())):
        _move(aside / name, top / name)
    shutil.rmtree(aside)


def _move(path: Path, new_path: Path) -> None:
    """Move a file to a path, whose folder is made."""
    new_path.parent.mkdir(parents=True, exist_ok=True)
    path.replace(new_path)


def _remove_empty(folder: Path, top: Path) -> None:
    """Remove a folder, and those above it up to `top`, as long as they are empty."""
    while folder != top and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent


def files_in(top: Path) -> set[str]:
    """Return the paths of all files in a folder, relative to it, except the marker and links."""
    files = (path for path in top.rglob("*") if is_file(path) and not path.is_symlink())
    return {str(path.relative_to(top)) for path in files} - {MARKER}
