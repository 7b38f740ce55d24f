"""Expansion of xacro files, the single source for Gazebo, DART, MuJoCo and RViz."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from roboaccord.contract.errors import AccordError


def expand_xacro(path: Path, arguments: Mapping[str, str]) -> str:
    """Return the URDF of a xacro file.

    Raises:
        AccordError: if the file is broken.
    """
    import xacro

    try:
        text: str = xacro.process_file(str(path), mappings=dict(arguments)).toxml()
    except Exception as error:  # noqa: BLE001 - xacro raises whatever its expressions do
        raise AccordError(f"broken description {path.name}: {str(error).splitlines()[0]}") from None
    return text
