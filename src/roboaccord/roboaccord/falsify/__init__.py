"""Deliberate errors of an engine, by which the cross-check is itself checked; nobody else knows.

broken = falsify.wrap("dart", after_step=lose_a_step)
"""

from __future__ import annotations

from roboaccord.contract.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, {
    "perturbation": ("KINDS", "Perturbation", "parse_perturbation"),
    "sensitivity": ("Sensitivity", "find_all", "find_smallest"),
    "wrapped": ("wrap",),
})  # fmt: skip
