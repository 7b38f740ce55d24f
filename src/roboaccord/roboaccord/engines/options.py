"""The keys below `engine_options` of a scenario."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from roboaccord.contract.errors import AccordError, did_you_mean


def read_options(
    options: Mapping[str, Mapping[str, Any]], engine: str, defaults: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the options of an engine, completed by `defaults`.

    Raises:
        AccordError: for a key that is not among the defaults.
    """
    given = options.get(engine, {})
    for key in given:
        if key not in defaults:
            raise AccordError(
                f"unknown key engine_options.{engine}.{key}{did_you_mean(key, defaults)}"
            )
    return {**defaults, **given}
