"""Safe reading and writing of files, by which all modules read and write.

`read_bytes`, `read_text` and `read_xml` read only regular files up to a limit of size. `writing`
writes a draft with a new name and then renames it, only over a file of the same kind and never
through a link; so a user's file is never destroyed or half-written. `check_target` and
`check_inside` make the checks in advance. test_writers tries all of that, and finds every module
that writes files in another way.

A new kind of output file is added, by its suffix, to `_KINDS_BY_HEAD` with its first bytes, or to
`_TEXT_KINDS`.
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

from roboaccord.contract.errors import AccordError, nearest

# [bytes] Largest file that is read into memory: twice the collection of 500 robots (131 MB).
LARGEST = 256_000_000
# [bytes] Largest text file: 50 times the largest of 69 URDFs.
LARGEST_TEXT = 10_000_000
# [bytes] Length of the start of a file by which its kind is recognised: it must contain the header
# of STL and the first line of a table. Any number from 84 to some thousand would do.
HEAD = 512
STL_HEAD, STL_TRIANGLE = 84, 50  # [bytes] header, and each triangle, of a binary STL file
_TEXT_KINDS = (".csv", ".mtl", ".obj", ".yaml", ".yml")  # kinds recognised as text
# By the first bytes of a file, in lower case: endings of its kinds, separated by blanks.
_KINDS_BY_HEAD = {
    b"<": ".sdf .svg .urdf .xacro .xml", b"<!doctype html": ".html", b"<html": ".html",
    b"{": ".json .jsonl .sarif", b"[": ".json", b"gif8": ".gif", b"\x89png": ".png",
    b"gltf": ".glb", b"ply": ".ply", b"matlab": ".mat", b"\x93numpy": ".npy", b"pk\x03\x04": ".npz",
}  # fmt: skip
written = set[Path]()  # absolute paths of the files that this process has written


def read_bytes(path: Path, most: int = LARGEST) -> bytes:
    """Return the content of a regular file.

    Args:
        path: path of the file.
        most: largest size that is read [bytes].

    Raises:
        AccordError: if it cannot be read, is not a regular file or is too large.
    """
    try:
        # Without O_NONBLOCK, opening a FIFO waits for a writer.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            _check_readable(path, os.fstat(file.fileno()), most)
            data = file.read(most + 1)  # the file may have grown
    except (OSError, ValueError) as error:  # ValueError: the name contains a NUL
        raise AccordError(f"cannot read {path}: {_reason(error)}") from None
    if len(data) > most:
        raise AccordError(f"cannot read {path}: it is larger than {most // 1_000_000} MB")
    return data


def _check_readable(path: Path, status: os.stat_result, most: int) -> None:
    """Refuse anything but a regular file of at most `most` bytes."""
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
    """Return the root element of an XML file; errors as in `read_bytes`."""
    return parse_xml(read_bytes(path, LARGEST_TEXT), f"cannot read {path}: it")


def parse_xml(data: bytes | str, what: str) -> ET.Element:
    """Return the root element of XML; otherwise raise an AccordError: "`what` is not XML"."""
    try:
        top = ET.fromstring(data)
        ET.tostring(top)  # raises RecursionError for a nesting that is too deep
    except (ET.ParseError, ValueError, LookupError, RecursionError) as error:
        reason = str(error) if data.strip() else "it is empty"
        raise AccordError(f"{what} is not XML: {reason}") from None
    return top


def check_file(path: Path, most: int = LARGEST) -> Path:
    """Return the path of a file that a library will open, with the checks of `read_bytes`."""
    try:
        _check_readable(path, path.stat(), most)
    except (OSError, ValueError) as error:
        raise AccordError(f"cannot read {path}: {_reason(error)}") from None
    return path


def is_file(path: Path) -> bool:
    """Return whether a path is a regular file; False also for an impossible name."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


@contextmanager
def writing(path: Path, kind: str = "") -> Iterator[Path]:
    """Yield the path of a draft to write in a `with` block, which then replaces the file.

    Args:
        path: path of the file.
        kind: ending of such files, such as `.csv`; by default that of `path`.

    Raises:
        AccordError: if the path is that of anything but a file of this kind, or the file cannot be
            written; then nothing is changed.
    """
    check_target(path, kind)
    try:
        with drafting(path, kind) as draft:
            yield draft
    except OSError as error:
        raise AccordError(f"cannot write {path}: {_reason(error)}") from None


@contextmanager
def drafting(path: Path, kind: str = "") -> Iterator[Path]:
    """Yield a draft like `writing`, but replace any existing file or link.

    The draft has a random name, so that nobody can have created a link of that name.

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
    """Open a text file for reading and appending; it is created if it does not exist.

    Raises:
        AccordError: if it is not a regular file, or has hard links.
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

    An empty file may be replaced in any case. Arguments are those of `writing`; a `path` of None
    stands for no output.

    Raises:
        AccordError: stating what the path is.
    """
    if path is None:
        return
    kind = kind or path.suffix
    try:
        status = path.lstat()
        if stat.S_ISDIR(status.st_mode) or not path.name:
            raise AccordError(f"cannot write {path}: it is a folder")
        if stat.S_ISLNK(status.st_mode):
            raise AccordError(f"cannot write {path}: it is a symbolic link; name what it leads to")
        if not stat.S_ISREG(status.st_mode):
            raise AccordError(f"cannot write {path}: it is not a regular file")
        if not os.access(path, os.W_OK):
            raise AccordError(f"cannot write {path}: Permission denied")
        if status.st_size and not _is_of_kind(path, kind.lower(), status.st_size):
            what = f"no {kind} file of this command" if kind else "of another kind"
            raise AccordError(f"cannot write {path}: it is there already, and is {what}")
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        raise AccordError(f"cannot write {path}: {_reason(error)}") from None


def check_inside(top: Path, path: Path) -> None:
    """Refuse a path with a symbolic link below the folder `top`, which may itself be a link.

    Raises:
        AccordError: naming the link.
    """
    for step in (path, *path.parents)[: len(path.relative_to(top).parts)]:
        if step.is_symlink():
            raise AccordError(f"cannot write {path}: {step} is a symbolic link; remove it")


def check_folder(path: Path, patterns: Sequence[str]) -> None:
    """Refuse to replace a folder that has a file, at any depth, that matches none of `patterns`.

    Raises:
        AccordError: naming the first such file.
    """
    if path.is_symlink() or (path.exists() and not path.is_dir()):
        raise AccordError(f"cannot write {path}: it is not a folder")
    for file in sorted(path.rglob("*")):
        if file.is_symlink() or not (file.is_dir() or any(map(file.match, patterns))):
            raise AccordError(f"cannot replace {path}: it holds {file.name}")


def _is_of_kind(path: Path, kind: str, size: int) -> bool:
    """Return whether a file has the ending of a kind, and content that begins like that kind."""
    if path.suffix.lower() != kind:
        return False
    with path.open("rb") as file:
        head = file.read(HEAD)
    # Binary STL is recognised by its size, which follows from the number of triangles.
    if kind == ".stl":
        count = int.from_bytes(head[STL_HEAD - 4 : STL_HEAD], "little")
        return head.startswith(b"solid") or size == STL_HEAD + STL_TRIANGLE * count
    # Without byte order mark and leading blanks.
    head = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if kind in _TEXT_KINDS and b"\0" not in head:
        return kind != ".csv" or b"," in head.partition(b"\n")[0]
    if kind == ".mp4":
        return head[4:8] == b"ftyp"
    heads = (start for start, kinds in _KINDS_BY_HEAD.items() if kind in kinds.split())
    return any(map(head.startswith, heads))


def _reason(error: Exception) -> str:
    """Return the reason of an error: that of the operating system, if there is one.

    Where a file is missing, its folder may be, or a file beside it may be meant.
    """
    reason = str(getattr(error, "strerror", None) or error)
    if isinstance(error, FileNotFoundError) and error.filename:
        path = Path(os.fsdecode(error.filename))
        if not path.parent.is_dir():
            return f"there is no folder {path.parent}"
        beside = (file.name for file in path.parent.glob("*") if file.suffix == path.suffix)
        if near := nearest(path.name, beside):
            reason += f"; did you mean {near[0]}?"
    return reason
