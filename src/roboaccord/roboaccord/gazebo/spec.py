"""SDFormat as a reader of descriptions, for what is installed; `sdformat` has the reader itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roboaccord.engines.spec import EngineSpec

if TYPE_CHECKING:
    from roboaccord.gazebo.sdformat import SdfReading


def _version() -> str:
    from roboaccord.gazebo.sdformat import tool_version

    return tool_version()


def _reader() -> type[SdfReading]:
    from roboaccord.gazebo.sdformat import SdfReading

    return SdfReading


SDFORMAT = EngineSpec(name="sdformat", package="", version=_version, reader=_reader)
