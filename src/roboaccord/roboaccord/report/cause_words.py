"""Sentences about explanations, causes and resolutions, for terminal and page alike.

A cause is what is wrong in an engine or a log, such as a mass (contract/outcome.py); an explanation
is the set of causes that accounts for what a check found, and a resolution the smallest error of a
parameter that the check would have noticed (both in crosscheck/causes/). No verdict depends on
these texts. A new quantity needs a case in `_clause` only where the general sentence does not fit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby

from roboaccord.contract.outcome import Cause
from roboaccord.crosscheck.causes.explain import Conclusion, Explanation
from roboaccord.crosscheck.causes.hypotheses import BRAKE, LIMIT, MOTOR, SPEED_LIMIT, Hypothesis
from roboaccord.crosscheck.causes.resolution import MAX_SHOWN, Resolved
from roboaccord.engines.deviations import EVERY, PRODUCTS

# Largest number of sets of causes that are listed if they cannot be distinguished: as LISTED of
# crosscheck/level.py.
MOST_SETS = 6
# Share of the squared residuals up to which the next best cause is mentioned. By choice: anything
# from 0.8 to 0.99 only decides whether a hint is printed, and no verdict.
MENTIONED = 0.95
# Columns of a log that have the same error, by its name in crosscheck/causes/samples.py.
COLUMNS = {"state": "position and rate", "axis": "position, rate and effort"}


def text_of(explanation: Explanation) -> str:
    """Return an explanation of residuals as a text; "" where none was searched for."""
    text = _conclusion(explanation)
    # In front: the ticks, the time and the place to which the explanation applies.
    if explanation.counted and text:
        text = "in {} of {} ticks {}".format(*explanation.counted, text)
    if explanation.since is not None:
        near = " near {} of {}".format(*explanation.near) if explanation.near else ""
        text = f"it departs at t = {explanation.since:.4g} s{near}; {text}".strip("; ")
    return text


def _conclusion(explanation: Explanation) -> str:
    """Return the causes that were found, or where to look; "" where none was searched for."""
    look_at = f"look at the {explanation.quantity} of {explanation.where}"
    match explanation.code:
        case Conclusion.NAMED | Conclusion.TOGETHER:
            text = _joined(explanation.causes)
            if not math.isnan(explanation.left):
                text += f", which leaves {explanation.left:.0g} of it or less"
                if explanation.following < MENTIONED:
                    text += f" and the next best {explanation.following:.1g}"
            return text
        case Conclusion.ALIKE:
            sets = [_joined(causes) for causes in (explanation.causes, *explanation.instead)]
            omitted = f"; and {len(sets) - MOST_SETS} more" if len(sets) > MOST_SETS else ""
            return f"cannot be distinguished: {'; '.join(sets[:MOST_SETS])}{omitted}"
        case Conclusion.NO_SINGLE_CAUSE:
            closest = f"; closest: {_joined(explanation.most)}" if explanation.most else ""
            remainder = f"{explanation.left:.1g} of it"
            return f"no known error explains all but {remainder}{closest}; {look_at}"
        case Conclusion.NOTHING_EXPLAINS:
            return f"no one to three known errors explain it; {look_at}"
        case Conclusion.EVENTS:
            return f"it lies in the periods with events: {', '.join(explanation.kinds)}"
    return ""


def _joined(causes: Sequence[Cause]) -> str:
    """Return causes that act together, joined by "and"; components of one quantity are one."""
    by_quantity = groupby(causes, lambda cause: (cause.quantity, cause.where))
    return " and ".join(_clause([*components]) for _, components in by_quantity)


def _clause(components: Sequence[Cause]) -> str:
    """Return a cause as a clause, from its components along the axes, of which most have one."""
    cause = components[0]
    kind, _, column = cause.quantity.partition(" of ")
    columns = COLUMNS.get(column, column)
    where, size = cause.where.replace(", ", " and "), cause.size or 0.0
    count, unit = f"{size:.4g}", cause.unit.removesuffix("s")
    amount = f"{count} {unit}" if count == "1" else f"{count} {unit}s"  # such as 2 ticks
    match kind, cause.unit:
        case "sign", _:
            return f"the {columns} of {where} has the other sign"
        case "gear", _ if column:
            return f"the {columns} of {where} is the motor's, {cause.axis} times the joint's"
        case "order", _:
            return f"the {columns} of {where} are interchanged"
        case "frame", _ if cause.axis == "orientation":
            return "the base's orientation is inverted"
        case "frame", _:
            return "the base's velocities are in the world's axes"
        case "mimic", _:
            return f"it moves {where}, which mimics, by a law of its own, and the reference exactly"
        case "delay", "physics steps":
            return f"efforts act {amount} late"
        case "clock", "physics steps":
            return f"a tick has 1 physics step too {'few' if size < 0.0 else 'many'}"
        case "delay", "ticks":
            return f"efforts act {amount} late, or states are recorded {amount} late"
        case "lag", "ticks":
            return f"rates are recorded {amount} late"
        case _ if cause.quantity == LIMIT:
            return f"the effort of {where} is clipped at {size:.4g} {cause.unit}"
        case _ if cause.quantity == MOTOR:
            return f"the effort of {_place(cause)} follows by a lag of first order of {size:.3g} s"
        case _ if cause.quantity == BRAKE:
            return f"a brake holds {where}, for {size:.3g} s"
        case _ if cause.quantity == SPEED_LIMIT:
            return f"{where} moves at no more than {size:.4g} {cause.unit}"
        case _ if is_mirrored(cause):
            return f"the products of inertia of {_place(cause)} have the other sign"
    sizes = [f"{c.axis} {_size_text(c.size or 0.0, c.unit)}".strip() for c in components]
    return f"{_quantity_at(cause)} is {', '.join(sizes)} off"


def _quantity_at(cause: Cause) -> str:
    """Return the quantity of a cause and where it is."""
    return f"{cause.quantity} of {_place(cause)}" if cause.where else cause.quantity


def _place(cause: Cause) -> str:
    """Return the link or joint of a cause, or "every link", "every joint"."""
    return f"every {Hypothesis(cause.quantity).element}" if cause.where == EVERY else cause.where


def _size_text(size: float, unit: str, form: str = "+.2g") -> str:
    """Return a size as text, in percent where it is relative."""
    return f"{100 * size:{form}} %" if unit == "1" else f"{size:{form}} {unit}"


def is_mirrored(cause: Cause) -> bool:
    """Return whether products of inertia have the opposite sign, as in some CAD programs.

    Their relative error is -2 then.
    """
    low, high = cause.interval or (0.0, 0.0)
    return cause.quantity == PRODUCTS and low < -2.0 < high


def with_interval(cause: Cause) -> str:
    """Return a cause with its 95 % confidence interval as text."""
    if cause.size is None or cause.interval is None or is_mirrored(cause):
        return _clause([cause])
    name = f"{_quantity_at(cause)} {cause.axis}".rstrip()
    factor, unit = (100.0, "%") if cause.unit == "1" else (1.0, cause.unit)
    size, low, high = (f"{factor * x:+.4g}" for x in (cause.size, *cause.interval))
    return f"{name} {size} {unit} [{low}, {high}]"


def _resolution_text(resolved: Resolved) -> str:
    """Return a parameter and the smallest error of it that would have been noticed."""
    return f"{_quantity_at(Cause(resolved.parameter, resolved.where))} {_smallest(resolved)}"


def _smallest(resolved: Resolved) -> str:
    """Return the smallest error that would have been noticed, as text."""
    if resolved.unseen:
        return "not at all"
    return _size_text(resolved.smallest, resolved.unit, ".1g")


def summary_of(errors: Sequence[Resolved]) -> str:
    """Return the smallest errors that would have been noticed, of up to MAX_SHOWN quantities.

    For a quantity of several links or joints it is the smallest error at any of them, which is the
    last one in the list.
    """
    words = []
    last_by_parameter = {error.parameter: error for error in errors}
    for parameter, last in [*last_by_parameter.items()][:MAX_SHOWN]:
        if sum(error.parameter == parameter for error in errors) == 1:
            words.append(_resolution_text(last))
        else:
            words.append(f"{parameter} of any {Hypothesis(parameter).element} {_smallest(last)}")
    return ", ".join(words)


def unnoticed(most: Resolved | None, asked: float, key: str, value: float) -> str:
    """Return a sentence on the error that could go unnoticed, and what would reveal it.

    Args:
        most: parameter whose error could be largest; None if it is not known.
        asked: largest relative error that may go unnoticed.
        key: of the scenario, which could be changed; "" for none.
        value: that the key should have; 0 for none.
    """
    if most is None:
        return "crosscheck.resolution: how large an error could go unnoticed is not known"
    advice = "next to nothing depends on it here: choose another motion"
    if key and value:
        advice = f"set {key}={value:.6g} or {'longer' if key == 'control_period' else 'smaller'}"
    elif key:
        advice = f"{key} allows it"
    finding = f"{_resolution_text(most)} could go unnoticed, {100 * asked:g} % is required"
    return f"crosscheck.resolution: {finding}; {advice}"
