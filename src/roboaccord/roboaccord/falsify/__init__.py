"""Deliberate errors of an engine, by which the cross-check is itself checked; known here alone.

broken = falsify.wrap("dart", after_step=lose_a_step)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from roboaccord.numerics.lazy import lazy_names

if TYPE_CHECKING:
    from roboaccord.falsify.perturbation import KINDS as KINDS
    from roboaccord.falsify.perturbation import Perturbation as Perturbation
    from roboaccord.falsify.perturbation import parse_perturbation as parse_perturbation
    from roboaccord.falsify.wrapped import wrap as wrap

__getattr__, __dir__, __all__ = lazy_names(__name__)
