"""Deliberate errors of an engine, by which the cross-check is itself checked; nobody else knows.

broken = falsify.wrap("dart", after_step=lose_a_step)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from roboaccord.contract.lazy import lazy_names

if TYPE_CHECKING:
    from roboaccord.falsify.perturbation import KINDS, Perturbation, parse_perturbation
    from roboaccord.falsify.sensitivity import Sensitivity, find_all, find_smallest
    from roboaccord.falsify.wrapped import wrap

__all__ = [
    "KINDS",
    "Perturbation",
    "Sensitivity",
    "find_all",
    "find_smallest",
    "parse_perturbation",
    "wrap",
]

__getattr__, __dir__, _ = lazy_names(
    __name__,
    {
        "perturbation": ["KINDS", "Perturbation", "parse_perturbation"],
        "sensitivity": ["Sensitivity", "find_all", "find_smallest"],
        "wrapped": ["wrap"],
    },
)
