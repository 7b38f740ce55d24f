"""SDFormat as a reader of descriptions, for what is installed; `sdformat` has the reader itself."""

from __future__ import annotations

from roboaccord.engines.spec import EngineSpec, imported


def _version() -> str:
    from roboaccord.gazebo.sdformat import tool_version

    return tool_version()


SDFORMAT = EngineSpec(
    name="sdformat",
    package="",
    version=_version,
    reader=imported("roboaccord.gazebo.sdformat:SdfReading"),
)
