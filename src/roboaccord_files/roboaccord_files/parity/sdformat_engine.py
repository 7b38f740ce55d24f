"""Register SDFormat, the parser of Gazebo, as an engine that reads descriptions.

It has no simulator and no Python package; sdformat.py has the reader, which is named as text so
that listing the engines does not import it. Users type the name `sdformat`, and setup.cfg has the
entry point.
"""

from __future__ import annotations

from roboaccord.engines.spec import EngineSpec, imported


def _version() -> str:
    """Return the version of SDFormat's tool, which is imported when it is asked for."""
    version: str = imported("roboaccord.gazebo.tool:tool_version")()()
    return version


READER = imported("roboaccord_files.parity.sdformat:SdfReading")
SDFORMAT = EngineSpec(name="sdformat", package="", version=_version, reader=READER)
