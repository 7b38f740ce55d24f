"""Sentences for reasons whose wording depends on their figures.

A reason is a code with figures, which are numbers and names (contract/codes.py); words.py lists
for each code a text or one of the functions here. Each function takes the figures by name, in SI
units, and returns the text; a factor of 1e3 makes mm or ms. The names are those that a level gives
to `because(Code.NAME, ...)`, where the reason is made. Texts with many figures are templates for
FORMATTER. No verdict depends on these sentences (test_words checks that every code has one).
"""

from __future__ import annotations

import math
import string
from collections.abc import Mapping
from typing import Any

# Figures of a reason, by name.
Figures = Mapping[str, Any]
# Texts by kind of disobedience (crosscheck/levels/drive.py): what happened to an effort.
KINDS = {
    "lost": "lost",
    "reversed": "reversed",
    "late": "{size:g} ticks late",
    "swapped": "swapped with {other}",
    "clipped": "clipped at {size:.4g} N m",
    "scaled": "scaled by {size:.6g}",
}
# Texts by contact law (crosscheck/levels/invariance.py): why a change of the world changes the
# motion.
LAWS = {
    "box": "its contact friction is a box along the world's axes: a turn by 90 degrees changes "
    "nothing",
    "unequal": "its contact law depends on the axes of the world",
}
# How a log and the motion disagree about a stop (crosscheck/levels/events.py).
MISPLACED = {
    "logged": "the log has it, but the joint does not reach its stop in that control period",
    "missed": "the joint reaches its stop in that control period, but the log has no event",
}
UNITS = {"time": "s", "impulse": "N s", "energy": "J"}  # of quantities of events


class _Formatter(string.Formatter):
    """`str.format` with two more formats: `.3g%` in percent, and `.3gm` in thousandths (mm, ms)."""

    def format_field(self, value: Any, form: str) -> str:
        """Return a figure in a format as text."""
        if form.endswith("g%"):
            return f"{format(100 * value, form[:-1])} %"
        return format(1e3 * value, form[:-1]) if form.endswith("gm") else str(format(value, form))


FORMATTER = _Formatter()


def allowed_limit(figures: Figures) -> str:
    """Return the limit that the scenario allows, with its reason."""
    limit, unit = figures["limit"], figures["unit"]
    size = f"{1e3 * limit:g} mm" if unit == "m" else f"{limit:g}"
    return f"allowed {size}: {figures['text']}"


def few_judged(figures: Figures) -> str:
    """Return which share of the ticks or events could be judged."""
    judged, total = figures["judged"], figures["total"]
    share = f"{judged:.0f} of {total:.0f} {figures['what']} ({100 * judged / total:.2g} %)"
    return f"only {share} could be judged: a third is needed"


def model_difference(figures: Figures) -> str:
    """Return what differs in a model, with the total mass if that differs, too."""
    where = f" of {figures['where']}" if figures["where"] else ""
    text = f"{figures['quantity']}{where} is {figures['how']}"
    whole, expected = (f"{m:.4g} kg" for m in (figures["total"], figures["reference"]))
    if figures["quantity"] == "mass" and whole != expected:
        text += f"; the whole weighs {whole}, the reference {expected}"
    return text


def off_by_share(figures: Figures) -> str:
    """Return a relative error in percent."""
    form = "+.3g" if figures.get("signed") else ".3g"
    return f"{100 * figures['share']:{form}} % off"


def off_by_angle(figures: Figures) -> str:
    """Return the error of a direction, in degrees, or in rad if it is tiny."""
    degrees = math.degrees(figures["size"])
    return f"{degrees:.3g} degrees off" if degrees > 0.01 else f"{figures['size']:.2g} rad off"


def value_instead(figures: Figures) -> str:
    """Return a value, and the reference's."""
    value, expected, unit = figures["have"], figures["want"], figures.get("unit", "")
    if expected:
        return f"{value:.6g}, in the reference {expected:.6g}"
    return f"{value:.4g} {unit}".rstrip() + ", in the reference nothing"


def state_read_back(figures: Figures) -> str:
    """Return the error of a state that was read back from an engine."""
    return " ".join(filter(None, [f"reads {figures['size']:.2g}", figures.get("unit", ""), "off"]))


def missing_part(figures: Figures) -> str:
    """Return that a link or joint is missing, with the mass of a link."""
    return f"missing: {figures['mass']:.4g} kg" if "mass" in figures else "missing"


def ticks_off(figures: Figures) -> str:
    """Return in how many of the ticks something is wrong."""
    return f"{figures['off']} of {figures['judged']} ticks are off"


def effort_disobeyed(figures: Figures) -> str:
    """Return which effort is not as commanded, since when, and what explains it."""
    texts = [KINDS[kind.kind].format(size=kind.size, other=kind.other) for kind in figures["kinds"]]
    explained = " or ".join("1 tick late" if text == "1 ticks late" else text for text in texts)
    how = explained or f"off by {figures['error']:.3g} N m"
    where, others = figures["where"], figures["joints"] - 1
    if others:
        where += f" (and of {others} {'other joint' if others == 1 else 'other joints'})"
    since = f"t = {figures['time']:g} s on"
    return f"effort of {where} is not as commanded from {since}: {how}; {ticks_off(figures)}"


def switch_disobeyed(figures: Figures) -> str:
    """Return which switch is not as commanded, and since when."""
    since = f"t = {figures['since']:g} s on"
    return f"switch {figures['switch']} is not as commanded from {since}; {ticks_off(figures)}"


def not_invariant(figures: Figures) -> str:
    """Return by which change of the world, such as a rotation, the motion changes."""
    form = "{move}, {quantity} of {where} differs by {error:.2g} at t = {time:g} s, but round-off "
    text = FORMATTER.format(form + "explains only {floor:.1g}", **figures)
    others = f"also {', '.join(figures['others'])}" if figures["others"] else ""
    return "; ".join(filter(None, [text, others, LAWS.get(figures["law"], "")]))


def step_unexplained(figures: Figures) -> str:
    """Return the unexplained error of one control period."""
    share, whose = f"{100 * figures['share']:.3g} %", figures["whose"]
    genitive = f"{whose}'s" if whose == "base" else f"{whose}'"
    text = f"one step from the same state differs by {share} of the change of the {genitive} rates"
    return f"{text}, and {figures['why']}"


def stepping_explains(figures: Figures) -> str:
    """Return which share of an error time stepping explains."""
    scheme = " beside the engine's own scheme" if figures["scheme"] else ""
    return f"time stepping explains {100 * figures['share']:.3g} %{scheme}"


def medians_differ(figures: Figures) -> str:
    """Return the difference of medians over seeds, with its confidence interval."""
    interval = f"{figures['low']:.3g} to {figures['high']:.3g} {figures['unit']}".rstrip()
    difference = f"median {figures['figure']} differs from the reference's by {interval}"
    return f"{difference} with 95 % confidence, allowed {figures['allowed']:.2g}"


def event_name(figures: Figures) -> str:
    """Return an event: kind, subject and time."""
    return f"{figures['kind']} of {figures['subject']} at t = {figures['time']:g} s"


def law_remarks(figures: Figures) -> list[str]:
    """Return remarks on the difference of an event: other laws, more events, ill-conditioning."""
    law = f"the engine has its own law of {figures['law']}" if figures["law"] else ""
    others = f"and {figures['others']} more" if figures["others"] else ""
    return [law, others, "" if figures["sure"] else "it is ill-conditioned"]


def event_unexplained(figures: Figures) -> str:
    """Return how an event differs from the reference's from the same state."""
    form = (
        "{what} {found:.5g} {unit}, from the same state the reference has {expected:.5g}; at a "
        "physics step of 0 a difference of {left:.2g} remains, but time stepping explains only "
        "{bound:.1g}"
    )
    differs = FORMATTER.format(form, **{**figures, "unit": UNITS[figures["what"]]})
    text = f"{event_name(figures)}: {differs}"
    return "; ".join(filter(None, [text, *law_remarks(figures)]))


def event_misplaced(figures: Figures) -> str:
    """Return how a log and the motion disagree about a stop."""
    return f"{event_name(figures)}: {MISPLACED[figures['what']]}"


def event_missing(figures: Figures) -> str:
    """Return that only one of engine and reference has an event."""
    text = f"{event_name(figures)} is not what the reference does from the same state"
    return "; ".join(filter(None, [text, *law_remarks(figures)]))


def only_gains(figures: Figures) -> str:
    """Return which losses are not measured, so that only gains of energy are judged."""
    return f"only gains are judged: {' and '.join(figures['channels'])} not measured"


def energy_gain(figures: Figures) -> str:
    """Return how much energy is gained or lost."""
    return f"{'gains' if figures['worst'] < 0.0 else 'loses'} {abs(figures['worst']):.2g} J"


def energy_unexplained(figures: Figures) -> str:
    """Return the energy that the energy book does not account for."""
    form = (
        "the energy book leaves a rest of {left:.2g} J (rms in {length:gm} ms) at a physics step "
        "of 0, but time stepping explains only {bound:.2g} J; from t = {time:g} s on it {gains} "
        "that no channel accounts for"
    )
    text = FORMATTER.format(form, **{**figures, "gains": energy_gain(figures)})
    if figures["sure"]:
        return text
    return f"{text}: a physics step of {1e3 * figures['step']:g} ms is too large to find out why"
