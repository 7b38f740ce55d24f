"""Reports: pages, figures and lists of findings, which need no network and no other file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roboaccord.contract.lazy import lazy_names

if TYPE_CHECKING:
    from roboaccord.report.comparison import Comparison, compare
    from roboaccord.report.overlay import Overlay, plot
    from roboaccord.report.page import render_report
    from roboaccord.report.signals import RunSignals

__getattr__, __dir__, _ = lazy_names(__name__, {
    "comparison": ("Comparison", "compare"),
    "overlay": ("Overlay", "plot"),
    "page": ("render_report",),
    "signals": ("RunSignals",),
})  # fmt: skip

__all__ = ["Comparison", "Overlay", "RunSignals", "compare", "plot", "render_report"]
