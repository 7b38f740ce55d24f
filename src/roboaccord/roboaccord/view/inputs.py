"""What a view takes from its page: its camera, and values of controls within their limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

import msgspec
import numpy as np

if TYPE_CHECKING:
    from viser import GuiInputHandle

Value: TypeAlias = bool | float | str | tuple[float, ...]
Controls: TypeAlias = "Mapping[str, GuiInputHandle[Value]]"
"""Viser's handles by identifier."""


class _Value(msgspec.Struct):
    value: Value


class GuiUpdateMessage(msgspec.Struct, tag=True):
    """Hold a new value of a control; what else a message would change is left out."""

    uuid: str
    updates: _Value


class ViewerCameraMessage(msgspec.Struct, tag=True):
    """Hold the camera of a page."""

    wxyz: tuple[float, float, float, float]
    position: tuple[float, float, float]
    fov: float
    near: float
    far: float
    image_height: int
    image_width: int
    look_at: tuple[float, float, float]
    up_direction: tuple[float, float, float]


_DECODER = msgspec.msgpack.Decoder(GuiUpdateMessage | ViewerCameraMessage)


def clean(frame: bytes, controls: Controls) -> bytes | None:
    """Return a frame with its value within the limits of its control; None to leave it out.

    Args:
        frame: as it came.
        controls: viser's handles by identifier.

    Raises:
        ValueError, TypeError, RecursionError: if it is no message of the page.
    """
    message = _DECODER.decode(frame)
    if isinstance(message, ViewerCameraMessage):
        if not np.isfinite(np.hstack(msgspec.structs.astuple(message))).all():
            raise ValueError("a camera is not finite")
    else:
        value = allowed(controls.get(message.uuid), message.updates.value)
        if value is None:
            return None
        message.updates.value = value
    return msgspec.msgpack.encode(message)


def allowed(control: GuiInputHandle[Value] | None, value: Value) -> Value | None:
    """Return a value within the limits of its control; None if the control takes none such."""
    if control is None or control.disabled:
        return None
    if isinstance(control.value, bool):
        return value if isinstance(value, bool) else None
    if isinstance(control.value, str):
        return value if value in getattr(control, "options", ()) else None
    low, high = getattr(control, "min", None), getattr(control, "max", None)
    if low is None or high is None or isinstance(value, bool | str):
        return None
    if np.shape(value) != np.shape(control.value) or not np.isfinite(value).all():
        return None
    found: Value = np.clip(value, low, high).tolist()
    return found
