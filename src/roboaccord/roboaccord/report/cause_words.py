"""Sentences about explanations, causes and resolutions, for terminal and page alike.

A cause is what is wrong in an engine or a log, such as a mass (contract/outcome.py); an explanation
is the set of causes that accounts for what a check found, and a resolution the smallest error of a
parameter that the check would have noticed (both in crosscheck/causes/). No verdict depends on
these texts. A new quantity needs a case in `_off` only where the general sentence does not fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from roboaccord.contract.outcome import Cause
from roboaccord.crosscheck.causes.explain import Conclusion, Explanation
from roboaccord.crosscheck.causes.hypotheses import LIMIT, MOTOR, SPEED_LIMIT, Hypothesis
from roboaccord.crosscheck.causes.resolution import SHOWN, Resolved
from roboaccord.engines.deviations import EVERY, PRODUCTS

# sets of causes that are listed at most, if they cannot be distinguished: as LISTED of level.py
MANY = 6
# Share of the squared residuals; a next best cause that leaves more is not mentioned. By choice:
# anything from 0.8 to 0.99 only decides whether a hint is printed, and no verdict.
EXPLAINS = 0.95
COLUMNS = {"state": "position and rate", "axis": "position, rate and effort"}  # of a log


def text_of(explanation: Explanation) -> str:
    """Return an explanation of residuals as a text; "" where none was searched for."""
    text, look_at = "", f"look at the {explanation.quantity} of {explanation.where}"
    match explanation.code:
        case Conclusion.NAMED | Conclusion.TOGETHER:
            text = together(explanation.causes)
            if explanation.left == explanation.left:
                text += f", which leaves {explanation.left:.0g} of it or less"
                if explanation.following < EXPLAINS:
                    text += f" and the next best {explanation.following:.1g}"
        case Conclusion.ALIKE:
            sets = [together(causes) for causes in (explanation.causes, *explanation.instead)]
            omitted = f"; and {len(sets) - MANY} more" if len(sets) > MANY else ""
            text = f"cannot be distinguished: {'; '.join(sets[:MANY])}{omitted}"
        case Conclusion.NO_SINGLE_CAUSE:
            text = f"no known error explains all but {explanation.left:.1g} of it"
            text += f"; closest: {together(explanation.most)}" * bool(explanation.most)
            text += f"; {look_at}"
        case Conclusion.NOTHING_EXPLAINS:
            text = f"no one to three known errors explain it; {look_at}"
        case Conclusion.EVENTS:
            text = f"it lies in the periods with events: {', '.join(explanation.kinds)}"
    # In front: the ticks, the time and the place to which the explanation applies.
    if explanation.counted and text:
        text = "in {} of {} ticks {}".format(*explanation.counted, text)
    if explanation.since is not None:
        near = " near {} of {}".format(*explanation.near) if explanation.near else ""
        text = f"it departs at t = {explanation.since:.4g} s{near}; {text}".strip("; ")
    return text


def together(causes: Sequence[Cause]) -> str:
    """Return causes that act together, joined by "and"; components of one quantity are one."""
    by_quantity = groupby(causes, lambda cause: (cause.quantity, cause.where))
    return " and ".join(_off([*components]) for _, components in by_quantity)


def _off(causes: Sequence[Cause]) -> str:
    """Return a cause as a clause; `causes` are the components of one quantity."""
    cause = causes[0]
    kind, _, what = cause.quantity.partition(" of ")
    where, size = cause.where.replace(", ", " and "), cause.size or 0.0
    count = f"{size:.4g}"
    many = f"{count} {cause.unit.removesuffix('s')}{'s' * (count != '1')}"
    match kind, cause.unit:
        case "sign", _:
            return f"the {COLUMNS.get(what, what)} of {where} has the other sign"
        case "order", _:
            return f"the {COLUMNS.get(what, what)} of {where} are interchanged"
        case "frame", _ if cause.axis == "orientation":
            return "the base's orientation is inverted"
        case "frame", _:
            return "the base's velocities are in the world's axes"
        case "mimic", _:
            return f"it moves {where}, which mimics, by a law of its own, and the reference exactly"
        case "delay", "physics steps":
            return f"efforts act {many} late"
        case "clock", "physics steps":
            return f"a tick has 1 physics step too {'few' if size < 0.0 else 'many'}"
        case "delay", "ticks":
            return f"efforts act {many} late, or states are recorded {many} late"
        case "lag", "ticks":
            return f"rates are recorded {many} late"
        case _ if cause.quantity == LIMIT:
            return f"the effort of {where} is clipped at {size:.4g} {cause.unit}"
        case _ if cause.quantity == MOTOR:
            return f"the effort of {_every(cause)} follows by a lag of first order of {size:.3g} s"
        case _ if cause.quantity == SPEED_LIMIT:
            return f"{where} moves at no more than {size:.4g} {cause.unit}"
        case _ if is_mirrored(cause):
            return f"the products of inertia of {_every(cause)} have the other sign"
    shown = [f"{part.axis} {sized(part.size or 0.0, part.unit)}".strip() for part in causes]
    return f"{_named(cause)} is {', '.join(shown)} off"


def _named(cause: Cause) -> str:
    """Return the quantity of a cause and where it is."""
    return f"{cause.quantity} of {_every(cause)}" if cause.where else cause.quantity


def _every(cause: Cause) -> str:
    """Return the link or joint of a cause, or "every link", "every joint"."""
    place = Hypothesis(cause.quantity).place
    return f"every {place}" if cause.where == EVERY else cause.where


def sized(size: float, unit: str, form: str = "+.2g") -> str:
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
        return _off([cause])
    name = " ".join(filter(None, [_named(cause), cause.axis]))
    factor, unit = (100.0, "%") if cause.unit == "1" else (1.0, cause.unit)
    size, low, high = (f"{factor * x:+.4g}" for x in (cause.size, *cause.interval))
    return f"{name} {size} {unit} [{low}, {high}]"


def resolved(one: Resolved) -> str:
    """Return a parameter and the smallest error of it that would have been noticed."""
    return f"{_named(Cause(one.parameter, one.where))} {_smallest(one)}"


def _smallest(one: Resolved) -> str:
    """Return the smallest error that would have been noticed, as text."""
    return "not at all" if one.unseen else sized(one.smallest, one.unit, ".1g")


def summary_of(errors: Sequence[Resolved]) -> str:
    """Return the smallest errors that would have been noticed, of up to SHOWN quantities.

    For a quantity of several links or joints it is the smallest error at any of them.
    """
    words = []
    for last in [*{error.parameter: error for error in errors}.values()][:SHOWN]:
        alone = sum(error.parameter == last.parameter for error in errors) == 1
        any_of = f"{last.parameter} of any {Hypothesis(last.parameter).place} {_smallest(last)}"
        words.append(resolved(last) if alone else any_of)
    return ", ".join(words)


def hidden(most: Resolved | None, asked: float, key: str, value: float) -> str:
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
    finding = f"{resolved(most)} could go unnoticed, {100 * asked:g} % is required"
    return f"crosscheck.resolution: {finding}; {advice}"
