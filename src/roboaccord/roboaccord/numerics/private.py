"""A temporary folder of this user, for what may not be anybody's: compiled code, modules."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from pathlib import Path
from zipfile import ZipFile


def private_folder() -> Path:
    """Return the folder, in which nobody else can have written anything.

    Raises:
        OSError: if there is none.
    """
    folder = Path(tempfile.gettempdir(), f"roboaccord-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise PermissionError(f"{folder} is not this user's alone")
    return folder


def unpacked(archive: Path) -> Path:
    """Return a folder with what an archive holds, made where it is not there in whole.

    Raises:
        OSError: if it cannot be written.
    """
    folder = private_folder() / f"{archive.stem}-{archive.stat().st_mtime_ns:x}"
    with ZipFile(archive) as file:
        if not all((folder / name).exists() for name in file.namelist()):
            part = tempfile.mkdtemp(dir=folder.parent)
            file.extractall(part)
            shutil.rmtree(folder, ignore_errors=True)  # a part is left where old files are removed
            try:
                Path(part).rename(folder)
            except OSError:  # another process was faster
                shutil.rmtree(part)
    return folder
