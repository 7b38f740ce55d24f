"""SDFormat as a reader of descriptions, for what is installed; sdformat.py has the reader itself.

The name `sdformat` stays: users type it, and setup.cfg has the entry point. The reader stays named
as text, so that listing engines does not import it. There is no simulator and no Python package,
hence the empty `package`.
"""

from __future__ import annotations

from roboaccord.engines.spec import EngineSpec, imported


def _version() -> str:
    version: str = imported("roboaccord.gazebo.tool:tool_version")()()
    return version


READER = imported("roboaccord_files.parity.sdformat:SdfReading")
SDFORMAT = EngineSpec(name="sdformat", package="", version=_version, reader=READER)
