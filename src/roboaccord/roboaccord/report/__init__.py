"""Reports: pages, figures and lists of findings, which need no network and no other file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roboaccord.contract.lazy import lazy_names

if TYPE_CHECKING:
    from roboaccord.report.page import render_report

__getattr__, __dir__, _ = lazy_names(__name__, {"page": ("render_report",)})

__all__ = ["render_report"]
