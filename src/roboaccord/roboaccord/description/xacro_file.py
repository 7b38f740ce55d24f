"""Expansion of xacro files, the single source for Gazebo, DART, MuJoCo and RViz."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from roboaccord.contract.errors import AccordError


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
        raise AccordError(f"broken description {path.name}: {str(error).splitlines()[0]}") from None
    return text


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
