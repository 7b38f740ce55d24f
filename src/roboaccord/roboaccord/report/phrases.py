"""Sentences for reasons whose wording depends on their figures.

A reason is a code with figures (contract/codes.py); words.py lists for each code a text or one of
the functions here. Each function takes the figures by name, in SI units, and returns the text; `1e3
*` makes mm or ms. No verdict depends on these sentences (test_words checks that every code has
one).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

Figures = Mapping[str, Any]
KINDS = {  # what happened to an effort
    "lost": "lost",
    "reversed": "reversed",
    "late": "{size:g} ticks late",
    "swapped": "swapped with {other}",
    "clipped": "clipped at {size:.4g} N m",
    "scaled": "scaled by {size:.6g}",
}
LAWS = {  # why a change of the world changes the motion
    "box": "its contact friction is a box along the world's axes: a turn by 90 degrees changes "
    "nothing",
    "unequal": "its contact law depends on the axes of the world",
}
MISPLACED = {  # how a log and the motion disagree about a stop
    "logged": "the log has it, but the joint does not reach its stop in that control period",
    "missed": "the joint reaches its stop in that control period, but the log has no event",
}
UNITS = {"time": "s", "impulse": "N s", "energy": "J"}  # of figures of events


def allowed(of: Figures) -> str:
    """Return the limit that the scenario allows, with its reason."""
    limit, unit = of["limit"], of["unit"]
    size = f"{1e3 * limit:g} mm" if unit == "m" else f"{limit:g}"
    return f"allowed {size}: {of['text']}"


def few_judged(of: Figures) -> str:
    """Return which share of the ticks or events could be judged."""
    judged, total = of["judged"], of["total"]
    share = f"{judged:.0f} of {total:.0f} {of['what']} ({100 * judged / total:.2g} %)"
    return f"only {share} could be judged: a third is needed"


def model(of: Figures) -> str:
    """Return what differs in a model, with the total mass if that differs, too."""
    where = f" of {of['where']}" if of["where"] else ""
    whole, expected = (f"{m:.4g} kg" for m in (of["total"], of["reference"]))
    weighs = f"; the whole weighs {whole}, the reference {expected}"
    more = weighs if of["quantity"] == "mass" and whole != expected else ""
    return f"{of['quantity']}{where} is {of['how']}{more}"


def off_by_share(of: Figures) -> str:
    """Return a relative error in percent."""
    return f"{100 * of['share']:{'+' if of.get('signed') else ''}.3g} % off"


def off_by_angle(of: Figures) -> str:
    """Return the error of a direction, in degrees, or in rad if it is tiny."""
    degrees = math.degrees(of["size"])
    return f"{degrees:.3g} degrees off" if degrees > 0.01 else f"{of['size']:.2g} rad off"


def instead(of: Figures) -> str:
    """Return a value, and the reference's."""
    if not of["want"]:
        return f"{of['have']:.4g} {of.get('unit', '')}".rstrip() + ", in the reference nothing"
    return f"{of['have']:.6g}, in the reference {of['want']:.6g}"


def reads(of: Figures) -> str:
    """Return the error of a state that was read back from an engine."""
    return " ".join(filter(None, [f"reads {of['size']:.2g}", of.get("unit", ""), "off"]))


def missing(of: Figures) -> str:
    """Return that a link or joint is missing, with the mass of a link."""
    return f"missing: {of['mass']:.4g} kg" if "mass" in of else "missing"


def ticks(of: Figures) -> str:
    """Return in how many of the ticks something is wrong."""
    return f"{of['off']} of {of['judged']} ticks are off"


def disobeyed(of: Figures) -> str:
    """Return which effort is not as commanded, since when, and what explains it."""
    kinds = [KINDS[kind.kind].format(size=kind.size, other=kind.other) for kind in of["kinds"]]
    kinds = [
        kind.replace("1 ticks", "1 tick") if kind == "1 ticks late" else kind for kind in kinds
    ]
    others = of["joints"] - 1
    beside = f" (and of {others} other joint{'s' * (others > 1)})" if others else ""
    how = " or ".join(kinds) or f"off by {of['error']:.3g} N m"
    since = f"t = {of['time']:g} s on"
    return f"effort of {of['where']}{beside} is not as commanded from {since}: {how}; {ticks(of)}"


def switch(of: Figures) -> str:
    """Return which switch is not as commanded, and since when."""
    since = f"t = {of['since']:g} s on"
    return f"switch {of['switch']} is not as commanded from {since}; {ticks(of)}"


def not_invariant(of: Figures) -> str:
    """Return by which change of the world, such as a rotation, the motion changes."""
    text = (
        f"{of['move']}, {of['quantity']} of {of['where']} differs by {of['error']:.2g} at "
        f"t = {of['time']:g} s, but round-off explains only {of['floor']:.1g}"
    )
    others = f"also {', '.join(of['others'])}" if of["others"] else ""
    return "; ".join(filter(None, [text, others, LAWS.get(of["law"], "")]))


def step_unexplained(of: Figures) -> str:
    """Return the unexplained error of one control period."""
    share = f"{100 * of['share']:.3g} %"
    text = f"one step from the same state differs by {share} of the change of the {of['whose']}'"
    return f"{text}{'s' * (of['whose'] == 'base')} rates, and {of['why']}"


def stepping_explains(of: Figures) -> str:
    """Return which share of an error time stepping explains."""
    scheme = " beside the engine's own scheme" if of["scheme"] else ""
    return f"time stepping explains {100 * of['share']:.3g} %{scheme}"


def medians(of: Figures) -> str:
    """Return the difference of medians over seeds, with its confidence interval."""
    by = f"{of['low']:.3g} to {of['high']:.3g} {of['unit']}".rstrip()
    return (
        f"median {of['figure']} differs from the reference's by {by} with 95 % confidence, "
        f"allowed {of['allowed']:.2g}"
    )


def event(of: Figures) -> str:
    """Return an event: kind, subject and time."""
    return f"{of['kind']} of {of['subject']} at t = {of['time']:g} s"


def law(of: Figures) -> list[str]:
    """Return remarks on the difference of an event: other laws, more events, ill-conditioning."""
    law = f"the engine has its own law of {of['law']}" if of["law"] else ""
    others = f"and {of['others']} more" if of["others"] else ""
    return [law, others, "" if of["sure"] else "it is ill-conditioned"]


def event_unexplained(of: Figures) -> str:
    """Return how an event differs from the reference's from the same state."""
    unit = UNITS[of["what"]]
    text = (
        f"{event(of)}: {of['what']} {of['found']:.5g} {unit}, from the same state the reference "
        f"has {of['expected']:.5g}; at a physics step of 0 a difference of {of['left']:.2g} "
        f"remains, but time stepping explains only {of['bound']:.1g}"
    )
    return "; ".join(filter(None, [text, *law(of)]))


def event_misplaced(of: Figures) -> str:
    """Return how a log and the motion disagree about a stop."""
    return f"{event(of)}: {MISPLACED[of['what']]}"


def event_missing(of: Figures) -> str:
    """Return that only one of engine and reference has an event."""
    text = f"{event(of)} is not what the reference does from the same state"
    return "; ".join(filter(None, [text, *law(of)]))


def only_gains(of: Figures) -> str:
    """Return which losses are not measured, so that only gains of energy are judged."""
    return f"only gains are judged: {' and '.join(of['channels'])} not measured"


def gains(of: Figures) -> str:
    """Return how much energy is gained or lost."""
    return f"{'gains' if of['worst'] < 0.0 else 'loses'} {abs(of['worst']):.2g} J"


def energy(of: Figures) -> str:
    """Return the energy that the energy book does not account for."""
    text = (
        f"the energy book leaves a rest of {of['left']:.2g} J (rms in {1e3 * of['length']:g} ms) "
        f"at a physics step of 0, but time stepping explains only {of['bound']:.2g} J; from "
        f"t = {of['time']:g} s on it {gains(of)} that no channel accounts for"
    )
    step = f": a physics step of {1e3 * of['step']:g} ms is too large to find out why"
    return text if of["sure"] else text + step
