"""Files at the border of the project: bounded where they are read, whole where they are written.

A kind of file that commands write may be added: its suffix and how it begins, in `_HEADS` or
`_TEXTS`. LARGEST and LARGEST_TEXT may be raised. What must stay: only a regular file is read; a
file is written as a draft with a new name and then renamed, only over a file of its kind and never
through a link. test_writers tries all of that, and finds each module that writes a file otherwise.
"""

from __future__ import annotations

import os
import secrets
import stat
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from roboaccord.contract.errors import AccordError

LARGEST = 256_000_000  # bytes of a file that is read as a whole, into memory
LARGEST_TEXT = 10_000_000  # bytes of a file that a person wrote
HEAD = 512  # bytes by which the kind of a file is recognised
STL_HEAD, STL_TRIANGLE = 84, 50  # bytes, fixed by the binary format
written = set[Path]()  # files that this process has written, absolute


def read_bytes(path: Path, most: int = LARGEST) -> bytes:
    """Return the content of a regular file.

    Args:
        path: of the file.
        most: size from which on it is refused [bytes].

    Raises:
        AccordError: if it cannot be read, is not a regular file or is too large.
    """
    try:
        # Without O_NONBLOCK, opening a FIFO waits for a writer.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            _check_readable(path, os.fstat(file.fileno()), most)
            data = file.read(most + 1)  # it may grow
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL in it
        raise AccordError(f"cannot read {path}: {_reason(error)}") from None
    if len(data) > most:
        raise AccordError(f"cannot read {path}: it is larger than {most // 1_000_000} MB")
    return data


def _check_readable(path: Path, status: os.stat_result, most: int) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise AccordError(f"cannot read {path}: it is not a regular file")
    if status.st_size > most:
        raise AccordError(f"cannot read {path}: it is larger than {most // 1_000_000} MB")


def read_text(path: Path, most: int = LARGEST_TEXT) -> str:
    """Return the text of a regular file in UTF-8; arguments and errors as in `read_bytes`."""
    try:
        return read_bytes(path, most).decode("utf-8")
    except UnicodeDecodeError:
        raise AccordError(f"cannot read {path}: it is not UTF-8 text") from None


def read_xml(path: Path) -> ET.Element:
    """Return the top element of an XML file; arguments and errors as in `read_bytes`."""
    return parse_xml(read_bytes(path, LARGEST_TEXT), f"cannot read {path}: it")


def parse_xml(data: bytes | str, what: str) -> ET.Element:
    """Return the top element of XML; an AccordError states that `what` is not XML."""
    try:
        top = ET.fromstring(data)
        ET.tostring(top)  # too deep a nesting ends in a RecursionError
    except (ET.ParseError, ValueError, LookupError, RecursionError) as error:
        raise AccordError(f"{what} is not XML: {error}") from None
    return top


def check_file(path: Path, most: int = LARGEST) -> Path:
    """Return the path of a file that a library will open; arguments and errors as above."""
    try:
        _check_readable(path, path.stat(), most)
    except (OSError, ValueError) as error:
        raise AccordError(f"cannot read {path}: {_reason(error)}") from None
    return path


def is_file(path: Path) -> bool:
    """Return whether a path is a regular file; False for a name that no file can have."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


@contextmanager
def writing(path: Path, kind: str = "") -> Iterator[Path]:
    """Yield the name of a draft to write, which replaces the file when it is done.

    Args:
        path: of the file.
        kind: ending that files of this kind have, such as `.csv`; the ending of `path` if left out.

    Raises:
        AccordError: if there is something other than a file of this kind, or the file cannot be
            written; what was there then stays.
    """
    check_target(path, kind)
    try:
        with drafting(path, kind) as draft:
            yield draft
    except OSError as error:
        raise AccordError(f"cannot write {path}: {_reason(error)}") from None


@contextmanager
def drafting(path: Path, kind: str = "") -> Iterator[Path]:
    """Do as `writing`, but replace whatever file or link is there.

    The draft is made under a random name that did not exist, so it cannot be somebody's link.

    Raises:
        OSError: if the file cannot be written.
    """
    draft = path.with_name(f".{secrets.token_hex(8)}{kind or path.suffix}")
    os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666))
    try:
        yield draft
        draft.replace(path)
        written.add(path.absolute())
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def open_growing(path: Path) -> TextIO:
    """Open a text file to read and append to; it is made if there is none.

    Raises:
        AccordError: if it is not a regular file, or has a second name.
        OSError: if it cannot be opened, for instance because it is a link.
    """
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    file = os.fdopen(os.open(path, flags, 0o666), "a+", encoding="utf-8")
    status = os.fstat(file.fileno())
    if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
        raise AccordError(f"cannot write {path}: it is not a regular file, or a hard link")
    if status.st_size > LARGEST:
        raise AccordError(f"cannot read {path}: it is larger than {LARGEST // 1_000_000} MB")
    written.add(path.absolute())
    return file


def check_target(path: Path | None, kind: str = "") -> None:
    """Refuse to write over anything but a file of the same kind.

    An empty file may be replaced, whatever its name. Arguments are those of `writing`; None is no
    output.

    Raises:
        AccordError: naming what is there.
    """
    if path is None:
        return
    kind = kind or path.suffix
    try:
        there = path.lstat()
        if stat.S_ISDIR(there.st_mode) or not path.name:
            raise AccordError(f"cannot write {path}: it is a folder")
        if stat.S_ISLNK(there.st_mode):
            raise AccordError(f"cannot write {path}: it is a symbolic link; name what it leads to")
        if not stat.S_ISREG(there.st_mode):
            raise AccordError(f"cannot write {path}: it is not a regular file")
        if not os.access(path, os.W_OK):
            raise AccordError(f"cannot write {path}: Permission denied")
        if there.st_size and not _is_of_kind(path, kind.lower(), there.st_size):
            what = f"no {kind} file of this command" if kind else "of another kind"
            raise AccordError(f"cannot write {path}: it is there already, and is {what}")
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        raise AccordError(f"cannot write {path}: {_reason(error)}") from None


def check_inside(top: Path, path: Path) -> None:
    """Refuse a path that leads over a symbolic link below a folder, which itself may be a link.

    Raises:
        AccordError: naming the link.
    """
    for step in (path, *path.parents)[: len(path.relative_to(top).parts)]:
        if step.is_symlink():
            raise AccordError(f"cannot write {path}: {step} is a symbolic link; remove it")


def check_folder(path: Path, patterns: Sequence[str]) -> None:
    """Refuse to replace a folder with files, at any depth, that match none of some patterns.

    Raises:
        AccordError: naming the first of them.
    """
    if path.is_symlink() or (path.exists() and not path.is_dir()):
        raise AccordError(f"cannot write {path}: it is not a folder")
    for file in sorted(path.rglob("*")):
        if file.is_symlink() or not (file.is_dir() or any(map(file.match, patterns))):
            raise AccordError(f"cannot replace {path}: it holds {file.name}")


def _is_of_kind(path: Path, kind: str, size: int) -> bool:
    """Return whether a file has the ending of a kind, and begins as files of that kind do."""
    if path.suffix.lower() != kind:
        return False
    with path.open("rb") as file:
        head = file.read(HEAD)
    if kind == ".stl":
        count = int.from_bytes(head[STL_HEAD - 4 : STL_HEAD], "little")
        return head.startswith(b"solid") or size == STL_HEAD + STL_TRIANGLE * count
    head = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if kind in _TEXTS and b"\0" not in head:
        return kind != ".csv" or b"," in head.partition(b"\n")[0]
    if kind == ".mp4":
        return head[4:8] == b"ftyp"
    return any(head.startswith(word) for word, kinds in _HEADS.items() if kind in kinds.split())


_TEXTS = (".csv", ".mtl", ".obj", ".yaml", ".yml")
_HEADS = {
    b"<": ".sdf .svg .urdf .xacro .xml", b"<!doctype html": ".html", b"<html": ".html",
    b"{": ".json .jsonl .sarif", b"[": ".json", b"gif8": ".gif", b"\x89png": ".png",
    b"gltf": ".glb", b"ply": ".ply", b"matlab": ".mat", b"\x93numpy": ".npy", b"pk\x03\x04": ".npz",
}  # fmt: skip
"""Kinds of files by how they begin."""


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error)
