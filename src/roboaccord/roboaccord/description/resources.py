"""Files of a package, found wherever pip, colcon or a development install put them.

`share` returns the share folder of a ROS package (the folder of its package.xml and data). A layout
of an installation may be added as another `yield` in `_data_folders`, with a case in
test_resources; the folder of the modules comes first, so that a development install never reads
data of an older copy.

`package_folders` looks where ROS looks for the packages that a description names. `is_installed`
decides which xacro files are trusted to run code: make it no wider.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

from roboaccord.contract import AccordError, read_xml
from roboaccord.numerics.machine import unpacked

# Environment variables with folders of Gazebo's models.
MODEL_PATHS = ("GZ_SIM_RESOURCE_PATH", "IGN_GAZEBO_RESOURCE_PATH", "SDF_PATH", "GAZEBO_MODEL_PATH")
LEVELS = 3  # folders from lib/python3.12/site-packages up to the prefix of an installation


def share(package: str) -> Path:
    """Return the share folder of a ROS package.

    It belongs to the copy of the package whose module Python imports. A package without a module
    (in C++, or only data) is looked for in AMENT_PREFIX_PATH.

    Raises:
        AccordError: if the package is not installed.
    """
    if not package.isidentifier():
        raise AccordError(f"{package[:80]!r} is not a name of a package")
    top = modules_of(package)
    folders = [*_data_folders(package, top.parent)] if top else []
    folders += [prefix / "share" / package for prefix in folders_of("AMENT_PREFIX_PATH")]
    for folder in folders:
        if (folder / "package.xml").is_file():
            return folder
    raise AccordError(f"package {package} is not installed: no share/{package} in any prefix")


def modules_of(package: str) -> Path | None:
    """Return the folder of a package's modules, unpacked where it is in a wheel on the path.

    Raises:
        AccordError: if the wheel cannot be unpacked.
    """
    spec = importlib.util.find_spec(package)
    if not spec or not spec.origin:
        return None
    folder = Path(spec.origin).resolve().parent
    if not folder.parent.is_file():
        return folder
    try:
        return unpacked(folder.parent) / package
    except OSError as error:
        reason = f"{error.strerror or error}: install it with pip"
        raise AccordError(f"cannot unpack {folder.parent}: {reason}") from None


def _data_folders(package: str, top: Path) -> Iterator[Path]:
    """Yield folders in which the data of a package may be; its modules are in a folder of `top`.

    A source tree is laid out like a share folder (pip -e, colcon --symlink-install). Otherwise the
    prefix of pip or colcon is some levels above, or the data are in an unpacked wheel. Lists of
    installed files are not used: they are wrong after `pip install --target`.
    """
    yield top
    yield from (above / "share" / package for above in (top, *top.parents[:LEVELS]))
    yield from top.glob(f"*.data/data/share/{package}")


def package_folders(package: str, path: Path, packages: Mapping[str, Path]) -> Iterator[Path]:
    """Yield folders in which a package that a file names may be, the likeliest first.

    Args:
        package: name.
        path: of the file, above which the package may be. A folder there can be the package
            whatever its name, if its package.xml says so.
        packages: folders that the user has given, by package.
    """
    if package in packages:
        yield packages[package]
    for start in dict.fromkeys((path, path.resolve())):
        for above in start.parents:
            yield above / package
            if _name_of(above) == package:
                yield above
    for folder in folders_of("ROS_PACKAGE_PATH"):
        yield folder if folder.name == package else folder / package
    yield from (folder / package for name in MODEL_PATHS for folder in folders_of(name))
    yield from (prefix / "share" / package for prefix in folders_of("AMENT_PREFIX_PATH"))
    with suppress(AccordError):
        yield share(package)


def is_installed(path: Path) -> bool:
    """Return whether a file belongs to an installed package, that is, is in its share folder."""
    plain = Path(os.path.abspath(path))  # noqa: PTH100 - links are kept, of `--symlink-install`
    for above in (*plain.parents, *path.resolve().parents):
        with suppress(AccordError, ValueError):  # for a package without a folder
            if (name := _name_of(above)) and share(name).resolve() == above.resolve():
                return True
    return False


@cache
def _name_of(folder: Path) -> str:
    """Return the name of the package whose package.xml is in a folder; "" where there is none."""
    try:
        return read_xml(folder / "package.xml").findtext("name", "").strip()
    except AccordError:
        return ""


def folders_of(variable: str) -> list[Path]:
    """Return the folders of an environment variable."""
    return [Path(name) for name in os.environ.get(variable, "").split(os.pathsep) if name]
