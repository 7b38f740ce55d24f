"""Show a robot's motion: an animation without a display, and a live view in the browser."""

from typing import TYPE_CHECKING

from roboaccord.numerics.lazy import lazy_names, make_callable

# No `from __future__ import annotations`: it would hide the module `annotations`.
if TYPE_CHECKING:
    from roboaccord.view.camera import ABOVE as ABOVE
    from roboaccord.view.camera import ASIDE as ASIDE
    from roboaccord.view.camera import AZIMUTH as AZIMUTH
    from roboaccord.view.camera import ELEVATION as ELEVATION
    from roboaccord.view.camera import View as View
    from roboaccord.view.camera import start_view as start_view
    from roboaccord.view.live import StateDisplay as StateDisplay
    from roboaccord.view.live import open_stage as open_stage
    from roboaccord.view.live import pose_of as pose_of
    from roboaccord.view.scene import Scene as Scene
    from roboaccord.view.stage import INSTALL as INSTALL
    from roboaccord.view.stage import Figure as Figure
    from roboaccord.view.stage import Stage as Stage

__getattr__, __dir__, __all__ = lazy_names(__name__)
make_callable(__name__)
