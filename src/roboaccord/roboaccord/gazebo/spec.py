"""SDFormat as a reader of descriptions, for what is installed; `sdformat` has the reader itself.

The name `sdformat` is typed by users (`--engines`) and is an entry point in setup.cfg: it stays.
The reader is named as text, so that looking which engines are installed does not import it. There
is no simulator, so the package is empty.
"""

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
