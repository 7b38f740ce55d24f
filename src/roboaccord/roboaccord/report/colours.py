"""Colours of pictures: of ink and paper, and the scale of maps."""

from __future__ import annotations

import numpy as np

from roboaccord.contract.state import Array

INK, SOFT, RULE, PAGE = "#1d2430", "#5d6878", "#d5dae1", "#ffffff"
BLUE, RED, GREEN = "#3366cc", "#d1495b", "#12a594"
EMPTY = "#e3e7ec"  # where there is no value
# matplotlib's viridis (CC0): dark is low, and it stays readable without colour.
SCALE = (
    "#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58",
    "#b5de2b", "#fde725",
)  # fmt: skip


def rgb(colour: str) -> tuple[int, int, int]:
    """Return red, green and blue of #rrggbb, each 0 to 255."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return red, green, blue


def colours(values: Array) -> Array:
    """Return colours (..., 3), 0 to 255, of values from 0 to 1; those of `EMPTY` for NaN."""
    anchors = np.array([rgb(colour) for colour in SCALE], dtype=float)
    at = np.linspace(0.0, 1.0, len(anchors))
    known = np.clip(np.nan_to_num(values), 0.0, 1.0)
    mixed = np.stack([np.interp(known, at, channel) for channel in anchors.T], axis=-1)
    return np.asarray(np.where(np.isnan(values)[..., None], rgb(EMPTY), mixed))
