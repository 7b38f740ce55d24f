"""Factories of controllers, laws and terrain, called with keys checked against their signatures."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Concatenate, TypeVar

from roboaccord.contract.errors import AccordError, did_you_mean
from roboaccord.scenario.user_code import explain

if TYPE_CHECKING:
    from roboaccord.contract.results import Json

R = TypeVar("R")
S = TypeVar("S")


def check_keys(factory: Callable[..., R], spec: Mapping[str, Json], key: str) -> None:
    """Check keys and numbers against the signature of a factory, before anything is made.

    Raises:
        AccordError: for a key that it does not take, or a value that is no number.
    """
    accepted = {n: p for n, p in inspect.signature(factory).parameters.items() if n != "setup"}
    for name, value in spec.items():
        if name not in accepted:
            new = getattr(factory, "renamed_keys", {}).get(name)
            hint = f"; it is now {key}.{new}" if new else did_you_mean(name, accepted)
            raise AccordError(f"unknown key {key}.{name}{hint}")
        default = accepted[name].default
        number = isinstance(default, (int, float)) and not isinstance(default, bool)
        if number and (isinstance(value, bool) or not isinstance(value, (int, float))):
            raise AccordError(f"{key}.{name}: {value!r} is no number")
        if isinstance(value, float) and number and not math.isfinite(value):
            raise AccordError(f"{key}.{name}: {value} is no number")


def build(
    factory: Callable[Concatenate[S, ...], R], setup: S, spec: Mapping[str, Json], key: str
) -> R:
    """Call `factory(setup, **spec)` with keys and numbers checked against its signature.

    Raises:
        AccordError: for a key that it does not take, or a value that it refuses.
    """
    check_keys(factory, spec, key)
    try:
        return factory(setup, **spec)
    except AccordError:
        raise
    except Exception as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        line = explain(error)
        raise AccordError(f"{key} {line}" if line else f"{key}: {reason}") from error
