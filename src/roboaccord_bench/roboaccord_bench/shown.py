"""Words for results, in the terminal, on the page and in names of files."""

from roboaccord_bench.bench import Json
from roboaccord_bench.check import TOLERANCE

# Of outcomes that are good, conventions, or nothing; all others are bad.
GRADES = {"exact": "good", "order": "good", "a convention": "rule", "refused": "none"}
UNITS = {"heading": "°", "force": " N", "height": " m", "spin": " rad/s"}


def case_text(case: Json) -> str:
    """Return the case of a problem, as `heading 45°, spin 0 rad/s`."""
    return ", ".join(f"{key} {value:g}{UNITS.get(key, '')}" for key, value in case.items())


def engine_text(result: Json) -> str:
    """Return the engine of a result, with its options if they are not the default ones."""
    setting = "" if result["setting"] == "default" else f" {result['setting']}"
    return f"{result['engine']}{setting}"


def percent(error: float) -> str:
    """Return a relative error in %."""
    return f"{100.0 * error:+.2f} %"


def error_text(entry: Json, result: Json) -> str:
    """Return the error at the last step, in % or in the problem's unit."""
    if not result["error"]:
        return "-"
    error = result["error"][-1]
    return percent(error) if entry["exact"] else f"{error:+.2g} {entry['unit']}".strip()


def outcome_text(entry: Json, result: Json) -> str:
    """Return the outcome of a result in words."""
    name, law = result["outcome"], f" ({result['law']})" if result["law"] else ""
    if name == "refused":
        return f"refused: {result['reason']}"
    if name == "order" and result["order"]:
        return f"order {result['order']:.1f}"
    if name == "exact":
        return f"within {100.0 * TOLERANCE:g} %" if entry["exact"] else "none"
    if name == "a convention":
        return f"rule: {result['law'] or 'unknown'}"
    if result["constant"] is not None:
        return f"{name}: {result['constant']:.4g} times{law}"
    if result["limit"] is not None:
        return f"{name}: {result['limit']:.2g} {entry['unit']}".rstrip() + law
    return f"{name}{law}"
