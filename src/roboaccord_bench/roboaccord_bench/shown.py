"""Words for results, in the terminal and on the page."""

from __future__ import annotations

import math

from roboaccord_bench.bench import Json
from roboaccord_bench.outcome import ROUND_OFF


def case_text(entry: Json) -> str:
    """Return the case of a problem, as `heading 45`."""
    return " ".join(f"{key} {value:g}" for key, value in entry["case"].items())


def engine_text(result: Json) -> str:
    """Return the engine of a result, with its options if they are not the default ones."""
    setting = "" if result["setting"] == "default" else f" {result['setting']}"
    return f"{result['engine']}{setting}"


def error_text(entry: Json, result: Json) -> str:
    """Return the error at the last step, in % or in the problem's unit."""
    if result["outcome"] == "refused" or not result["error"]:
        return "-"
    error = result["error"][-1]
    return f"{100.0 * error:+.2f} %" if entry["exact"] else f"{error:+.2g} {entry['unit']}"


def outcome_text(result: Json) -> str:
    """Return the outcome of a result in words."""
    law = f" ({result['law']})" if result["law"] else ""
    if result["outcome"] == "refused":
        return f"refused: {result['reason']}"
    if result["outcome"] == "order":
        return f"order {result['order']:.1f}"
    if result["outcome"] == "exact":
        return f"right within {100.0 * ROUND_OFF:g} %"
    if result["constant"] is not None and math.isfinite(result["constant"]):
        return f"{result['outcome']}: {result['constant']:.4f} times{law}"
    return f"{result['outcome']}{law}"
