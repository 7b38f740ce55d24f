"""Checks of what is given to Gazebo Sim, and SDFormat as a reader of descriptions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roboaccord.engines.spec import EngineSpec, imported
from roboaccord.numerics.lazy import lazy_names

if TYPE_CHECKING:
    from roboaccord.gazebo.form import LEVEL as LEVEL
    from roboaccord.gazebo.form import MATERIAL as MATERIAL
    from roboaccord.gazebo.form import base_in_gazebo as base_in_gazebo
    from roboaccord.gazebo.form import cache as cache
    from roboaccord.gazebo.form import contact_shapes as contact_shapes
    from roboaccord.gazebo.form import expand_for_gazebo as expand_for_gazebo
    from roboaccord.gazebo.form import is_level as is_level
    from roboaccord.gazebo.form import write_faceted as write_faceted
    from roboaccord.gazebo.form import write_squared as write_squared
    from roboaccord.gazebo.sdformat import print_sdf as print_sdf
    from roboaccord.gazebo.twin import gazebo_case as gazebo_case
    from roboaccord.gazebo.twin import on_ground as on_ground
    from roboaccord.gazebo.window import ANCHOR as ANCHOR
    from roboaccord.gazebo.window import CAMERA as CAMERA
    from roboaccord.gazebo.window import HALF as HALF
    from roboaccord.gazebo.window import add_window as add_window
    from roboaccord.gazebo.window import numbers_text as numbers_text
    from roboaccord.gazebo.world import MODEL_CONFIG as MODEL_CONFIG
    from roboaccord.gazebo.world import PLAIN as PLAIN
    from roboaccord.gazebo.world import SQUARED as SQUARED
    from roboaccord.gazebo.world import barrier_topics as barrier_topics
    from roboaccord.gazebo.world import box as box
    from roboaccord.gazebo.world import physics_of as physics_of
    from roboaccord.gazebo.world import squares as squares
    from roboaccord.gazebo.world import static_model as static_model
    from roboaccord.gazebo.world import text_of as text_of
    from roboaccord.gazebo.world import world_for_run as world_for_run
    from roboaccord.gazebo.world import world_text as world_text


def _version() -> str:
    from roboaccord.gazebo.sdformat import tool_version

    return tool_version()


SDFORMAT = EngineSpec(
    name="sdformat",
    package="",
    version=_version,
    reader=imported("roboaccord.gazebo.sdformat:SdfReading"),
)

__getattr__, __dir__, _lazy = lazy_names(__name__)

__all__ = [*_lazy, "SDFORMAT"]
