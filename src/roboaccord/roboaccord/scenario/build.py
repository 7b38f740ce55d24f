"""Calls of factories with the keys of a scenario, checked against their signatures."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any

from roboaccord.contract.errors import AccordError, did_you_mean
from roboaccord.scenario.user_code import explain


def check_keys(factory: Callable[..., Any], spec: Mapping[str, Any], key: str) -> None:
    """Check keys and numbers against the signature of a factory, before anything is made.

    Raises:
        AccordError: for a key that it does not take, or a value that is no number.
    """
    accepted = [p for p in inspect.signature(factory).parameters if p != "setup"]
    for name in spec:
        if name not in accepted:
            new = getattr(factory, "renamed_keys", {}).get(name)
            hint = f"; it is now {key}.{new}" if new else did_you_mean(name, accepted)
            raise AccordError(f"unknown key {key}.{name}{hint}")
        default = inspect.signature(factory).parameters[name].default
        number = isinstance(default, (int, float)) and not isinstance(default, bool)
        if number and (isinstance(spec[name], bool) or not isinstance(spec[name], (int, float))):
            raise AccordError(f"{key}.{name}: {spec[name]!r} is no number")
        if number and not math.isfinite(spec[name]):
            raise AccordError(f"{key}.{name}: {spec[name]} is no number")


def build(factory: Callable[..., Any], setup: Any, spec: Mapping[str, Any], key: str) -> Any:
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
