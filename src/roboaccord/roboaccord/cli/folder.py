"""Folders of results: each names the command that wrote it, so that no other writes into it.

Nothing here is to be tuned. MARKER and its keys stay, for folders on users' disks have them. Fixed
for safety: `--force` deletes what a marker of this user lists, and nothing else; test_writers tries
it with links, foreign markers and files in between. A new command may be given its folder by
`results`, and needs no change here.
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
from roboaccord.contract import VERSION
from roboaccord.contract.errors import AccordError
from roboaccord.contract.files import is_file, read_text, written
from roboaccord.run.output import fresh, make_folder, write_text

MARKER = ".roboaccord.json"


@dataclass(frozen=True)
class Marker:
    """A folder's marker: the command, and the files that it wrote, relative to the folder."""

    command: str
    files: tuple[str, ...] = ()

    @classmethod
    def of(cls, folder: Path) -> Marker | None:
        """Read the marker; None for none, or another user's, whose list is not trusted."""
        try:
            there = (folder / MARKER).lstat()
            if not stat.S_ISREG(there.st_mode) or there.st_uid != os.geteuid():
                return None
            kept = json.loads(read_text(folder / MARKER))
            return cls(str(kept["command"]), tuple(map(str, kept["files"])))
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
    """Give the folder for the results of the command that runs, and mark it as that command's.

    A folder that is new, empty or marked by the same command is used as it is. With `force` any
    folder is: the files that its marker lists, and no others, are set aside; they are deleted when
    the command is done, and put back if it fails. If it fails before it has written a file, a new
    folder is removed again.

    Args:
        folder: that `--out` names; None for a new one under runs/.
        default: its name there.
        force: take the folder whatever it holds.
        adds: the command adds to the folder, and replaces files itself.

    Raises:
        AccordError: if it holds something else, or cannot be written.
    """
    top = folder or fresh(Path("runs") / default)
    if not adds and not force:
        check_folder(top)
    old = set_aside(top) if force and not adds else None
    is_new, earlier = not top.exists(), Marker.of(top)
    make_folder(top)
    before = {top, *top.rglob("*")}
    mine = Marker(call.get().name, earlier.files if earlier else ())
    mine.write(top)
    try:
        yield top
    except BaseException:
        if old:
            put_back(old, top)
            earlier = Marker.of(top)
        raise
    else:
        if old:
            shutil.rmtree(old)
    finally:
        listed = earlier.files if earlier else ()
        made = {n for n in files_in(top) if n in listed or _is_made(top / n, before)}
        if made or earlier:
            Marker(mine.command, tuple(sorted(made))).write(top)
        else:
            (top / MARKER).unlink(missing_ok=True)
            if is_new:
                with suppress(OSError):
                    top.rmdir()


def _is_made(file: Path, before: set[Path]) -> bool:
    """Return whether a command wrote a file: this process, or another one in a new folder."""
    return file.absolute() in written or (file not in before and file.parent not in before)


def is_own(top: Path) -> bool:
    """Return whether a folder is marked by the command that runs."""
    marker = Marker.of(top)
    return marker is not None and marker.command == call.get().name


def check_folder(top: Path) -> None:
    """Refuse a folder that holds anything but results of the command that runs.

    Raises:
        AccordError: naming what it holds.
    """
    marker, name = Marker.of(top), call.get().name
    held = sorted(path.name for path in top.iterdir()) if top.is_dir() else []
    if held and marker is None:
        more = f" and {len(held) - 3} more" if len(held) > 3 else ""
        found = f"{', '.join(held[:3])}{more}, not results of accord {name}"
        raise AccordError(f"{top} holds {found}: choose another --out, or add --force")
    if marker and marker.command != name:
        cure = "choose another --out, or replace them with --force"
        raise AccordError(f"{top} holds results of accord {marker.command}: {cure}")


def set_aside(top: Path) -> Path | None:
    """Move the files that a folder's marker lists, and the marker, into a folder beside it.

    Links stay, whatever they lead to, and so does what a name leads to outside the folder.

    Returns:
        that folder; None where there is no marker.

    Raises:
        AccordError: if one cannot be moved.
    """
    marker = Marker.of(top)
    if marker is None:
        return None
    inside, aside = top.resolve(), None
    try:
        aside = Path(tempfile.mkdtemp(prefix=f".{inside.name}_", dir=inside.parent))
        for name in (*marker.files, MARKER):
            path = inside / name
            if inside in path.parents and is_file(path) and path.resolve() == path:
                _move(path, aside / name)
                _remove_empty(path.parent, inside)
    except OSError as error:
        if aside:
            put_back(aside, top)
        raise AccordError(f"cannot replace what is in {top}: {error.strerror}") from None
    return aside


def put_back(aside: Path, top: Path) -> None:
    """Move files that were set aside to where they were, in place of newer ones."""
    for name in (*files_in(aside), *([MARKER] if (aside / MARKER).exists() else ())):
        _move(aside / name, top / name)
    shutil.rmtree(aside)


def _move(path: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    path.replace(to)


def _remove_empty(folder: Path, top: Path) -> None:
    while folder != top and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent


def files_in(top: Path) -> set[str]:
    """Return the files in a folder, relative to it, but for the marker."""
    found = (path for path in top.rglob("*") if is_file(path) and not path.is_symlink())
    return {str(path.relative_to(top)) for path in found} - {MARKER}
