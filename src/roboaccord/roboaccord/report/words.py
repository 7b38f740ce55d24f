"""The words of codes: everything that a cross-check says in English, for terminal and page alike.

Words may be changed here, and a code that is new gets its own: a text with its figures in braces,
or a function of them. A code without words, as of a level that is not in the tree, is shown by its
name and figures. No verdict hangs on what stands here (test_words).
"""

from __future__ import annotations

import math
import string
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from roboaccord.contract.outcome import Code, Finding, Outcome, Reason
from roboaccord.crosscheck.causes.explain import MOST
from roboaccord.crosscheck.report import Report
from roboaccord.report.cause_words import hidden, text_of, with_interval

Figures = Mapping[str, Any]
KINDS = {
    "lost": "lost",
    "reversed": "reversed",
    "late": "{size:g} ticks late",
    "swapped": "swapped with {other}",
    "clipped": "clipped at {size:.4g} N m",
    "scaled": "scaled by {size:.6g}",
}
LAWS = {
    "box": "its contact friction is a box along the world's axes: a turn by 90 degrees changes "
    "nothing",
    "unequal": "its contact law depends on the axes of the world",
}
MISPLACED = {
    "logged": "the log has it, but the joint does not reach its stop in that control period",
    "missed": "the joint reaches its stop in that control period, but the log has no event",
}
UNITS = {"time": "s", "impulse": "N s", "energy": "J"}


def words_of(what: Reason | Finding | Report | Sequence[Reason]) -> str:
    """Return a reason, the reasons of a finding or the report of one run in words, in one line."""
    if isinstance(what, Report):
        return _line(what)
    if isinstance(what, Finding):
        text = words_of(what.reasons)
        return f"{what.excuse} ({text})" if what.outcome == Outcome.EXCUSED else text
    if not isinstance(what, Reason):
        return "; ".join(filter(None, map(words_of, what)))
    known = TEXTS.get(what.code)
    if known is None:
        figures = ", ".join(f"{name} {_plain(value)}" for name, value in what.figures.items())
        return ": ".join(filter(None, [str(what.code).replace("_", " "), figures]))
    return known(what.figures) if callable(known) else FORMS.format(known, **what.figures)


class _Forms(string.Formatter):
    """Format figures as `str.format` does, and by `.3g%` in percent, by `.3gm` a thousand times."""

    def format_field(self, value: Any, form: str) -> str:
        """Return one figure as text."""
        if form.endswith("g%"):
            return f"{format(100 * value, form[:-1])} %"
        return format(1e3 * value, form[:-1]) if form.endswith("gm") else str(format(value, form))


FORMS = _Forms()


def _line(report: Report) -> str:
    """Return the verdict on one run."""
    step, others = report.step, [f for f in report.levels.findings if f.level != "one_step"]
    words = [
        f"one step {_outcome(report.finding)}: {100 * step.relative:.3g} % of the change, allowed "
        f"{100 * step.allowed:.3g} %",
        f"{step.compared} of {step.ticks} ticks compared, {step.left_out} left out, "
        f"{step.skipped} skipped, delay {step.delay} ticks",
        report.finding.reason,
    ]
    words += [
        f"{each.level} {_outcome(each)}" + f": {each.reason}" * bool(each.reason) for each in others
    ]
    return "undecided: " * (report.verdict == "undecided") + words_of_all(words)


def words_of_all(words: Sequence[str]) -> str:
    """Return parts of a sentence as one, without those that are empty."""
    return "; ".join(filter(None, words))


def _outcome(found: Finding) -> str:
    return found.outcome.replace("_", " ")


def _plain(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _text(of: Figures) -> str:
    return f"{of['engine']}: {of['text']}" if "engine" in of else str(of["text"])


def _allowed(of: Figures) -> str:
    limit, unit = of["limit"], of["unit"]
    size = f"{1e3 * limit:g} mm" if unit == "m" else f"{limit:g}"
    return f"allowed {size}: {of['text']}"


def _few_judged(of: Figures) -> str:
    judged, total = of["judged"], of["total"]
    share = f"{judged:.0f} of {total:.0f} {of['what']} ({100 * judged / total:.2g} %)"
    return f"only {share} could be judged: a third is needed"


def _model(of: Figures) -> str:
    where = f" of {of['where']}" if of["where"] else ""
    whole, expected = (f"{m:.4g} kg" for m in (of["total"], of["reference"]))
    weighs = f"; the whole weighs {whole}, the reference {expected}"
    more = weighs if of["quantity"] == "mass" and whole != expected else ""
    return f"{of['quantity']}{where} is {of['how']}{more}"


def _off_by_share(of: Figures) -> str:
    return f"{100 * of['share']:{'+' if of.get('signed') else ''}.3g} % off"


def _off_by_angle(of: Figures) -> str:
    degrees = math.degrees(of["size"])
    return f"{degrees:.3g} degrees off" if degrees > 0.01 else f"{of['size']:.2g} rad off"


def _instead(of: Figures) -> str:
    if not of["want"]:
        return f"{of['have']:.4g} {of.get('unit', '')}".rstrip() + ", in the reference nothing"
    return f"{of['have']:.6g}, in the reference {of['want']:.6g}"


def _reads(of: Figures) -> str:
    return " ".join(filter(None, [f"reads {of['size']:.2g}", of.get("unit", ""), "off"]))


def _missing(of: Figures) -> str:
    return f"missing: {of['mass']:.4g} kg" if "mass" in of else "missing"


def _ticks(of: Figures) -> str:
    return f"{of['off']} of {of['judged']} ticks are off"


def _disobeyed(of: Figures) -> str:
    kinds = [KINDS[each.kind].format(size=each.size, other=each.other) for each in of["kinds"]]
    kinds = [
        kind.replace("1 ticks", "1 tick") if kind == "1 ticks late" else kind for kind in kinds
    ]
    others = of["joints"] - 1
    beside = f" (and of {others} other joint{'s' * (others > 1)})" if others else ""
    how = " or ".join(kinds) or f"off by {of['error']:.3g} N m"
    since = f"t = {of['time']:g} s on"
    return f"effort of {of['where']}{beside} is not as commanded from {since}: {how}; {_ticks(of)}"


def _switch(of: Figures) -> str:
    since = f"t = {of['since']:g} s on"
    return f"switch {of['switch']} is not as commanded from {since}; {_ticks(of)}"


def _but_unresolved(of: Figures) -> str:
    text = "each tick without an event matches the twin; the reference does not resolve the others"
    return f"{text} ({words_of(of['of'])})"


def _not_invariant(of: Figures) -> str:
    text = (
        f"{of['move']}, {of['quantity']} of {of['where']} differs by {of['error']:.2g} at "
        f"t = {of['time']:g} s, but round-off explains only {of['floor']:.1g}"
    )
    others = f"also {', '.join(of['others'])}" if of["others"] else ""
    return "; ".join(filter(None, [text, others, LAWS.get(of["law"], "")]))


def _step_unexplained(of: Figures) -> str:
    share = f"{100 * of['share']:.3g} %"
    text = f"one step from the same state differs by {share} of the change of the {of['whose']}'"
    return f"{text}{'s' * (of['whose'] == 'base')} rates, and {of['why']}"


def _stepping_explains(of: Figures) -> str:
    own = " beside the engine's own scheme" if of["scheme"] else ""
    return f"time stepping explains {100 * of['share']:.3g} %{own}"


def _medians(of: Figures) -> str:
    by = f"{of['low']:.3g} to {of['high']:.3g} {of['unit']}".rstrip()
    return (
        f"median {of['figure']} differs from the reference's by {by} with 95 % confidence, "
        f"allowed {of['allowed']:.2g}"
    )


def _event(of: Figures) -> str:
    return f"{of['kind']} of {of['subject']} at t = {of['time']:g} s"


def _law(of: Figures) -> list[str]:
    law = f"the engine has its own law of {of['law']}" if of["law"] else ""
    others = f"and {of['others']} more" if of["others"] else ""
    return [law, others, "" if of["sure"] else "it is ill-conditioned"]


def _event_unexplained(of: Figures) -> str:
    unit = UNITS[of["what"]]
    text = (
        f"{_event(of)}: {of['what']} {of['found']:.5g} {unit}, from the same state the reference "
        f"has {of['expected']:.5g}; {of['left']:.2g} are left at a physics step of 0, of which "
        f"time stepping explains only {of['bound']:.1g}"
    )
    return "; ".join(filter(None, [text, *_law(of)]))


def _event_missing(of: Figures) -> str:
    text = f"{_event(of)} is not what the reference does from the same state"
    return "; ".join(filter(None, [text, *_law(of)]))


def _only_gains(of: Figures) -> str:
    return f"only gains are judged: {' and '.join(of['channels'])} not measured"


def _gains(of: Figures) -> str:
    return f"{'gains' if of['worst'] < 0.0 else 'loses'} {abs(of['worst']):.2g} J"


def _energy(of: Figures) -> str:
    text = (
        f"the energy book leaves a rest of {of['left']:.2g} J (rms in {1e3 * of['length']:g} ms) "
        f"at a physics step of 0, but time stepping explains only {of['bound']:.2g} J; from "
        f"t = {of['time']:g} s on it {_gains(of)} that no channel accounts for"
    )
    step = f": a physics step of {1e3 * of['step']:g} ms is too large to find out why"
    return text if of["sure"] else text + step


def _suspect(of: Figures) -> str:
    how_far, what = words_of(of["how_far"]), words_of(of["what"])
    return f"outside since t = {of['since']:g} s, {how_far}: {of['link']}: {what}"


def _residuals(of: Figures) -> str:
    """Return what is left in windows of a log, and what explains it."""
    found, text = of["of"], "residuals of {share:.3g%} of what the efforts do in {window} steps"
    text = FORMS.format(text, **of)
    if found.causes:
        every = (found.causes, *found.instead)
        return f"{text}: {'; or '.join('; '.join(map(with_interval, each)) for each in every)}"
    first, last = of["span"]
    where = f"{of['where']}, from {first:.3g} to {last:.3g} s"
    text += f", which no {MOST} known errors explain; look at {where}"
    most = "; ".join(map(with_interval, found.most))
    return f"{text}; most of it by {most}" if most else text


def _level(of: Figures) -> str:
    return f"{of['engine']}: {of['level']}"


TEXTS: dict[str, str | Callable[[Figures], str]] = {
    Code.TEXT: _text,
    Code.BELOW_ROUND_OFF: "below round-off",
    Code.ALLOWED: _allowed,
    Code.FEW_JUDGED: _few_judged,
    Code.FEW_STEPS: "{steps} physics steps are needed for a verdict: --refine {steps}",
    Code.COARSE: lambda of: (
        "the physics step is too large to find out why; halve the step, to "
        f"{of['step'] / 2:g} s at the finest, by one more --refine"
    ),
    Code.NOTHING_MOVES: "nothing moves: give it rates at the start, such as "
    "--set initial.qd.JOINT=0.5, or efforts",
    Code.NOTHING_CAN_MOVE: "nothing can move",
    Code.KINEMATIC: "the reference is kinematic: one step compares the rates in its place",
    Code.HIDDEN: lambda of: hidden(**of),
    Code.CAUSE: lambda of: text_of(of["of"]),
    Code.MODEL: _model,
    Code.ACCELERATION: "accelerations differ by {error:.2g} relative, allowed {allowed:.0e}",
    Code.OFF_BY: "{size:.2g} {unit} off",
    Code.OFF_BY_SHARE: _off_by_share,
    Code.OFF_BY_ANGLE: _off_by_angle,
    Code.INSTEAD: _instead,
    Code.READS: _reads,
    Code.MISSING: _missing,
    Code.NO_COMMAND: "no efforts are commanded; the motion shows whether a wrench or a twist acts",
    Code.DISOBEYED: _disobeyed,
    Code.SWITCH_DISOBEYED: _switch,
    Code.NO_TWIN: "no twin: {text}",
    Code.NOT_THE_TWIN: "{quantity} of {where} differs by {error:.2g} in the tick at t = {time:g} s "
    "from our equations under the engine's own scheme, but round-off explains only {floor:.1g}",
    Code.THE_TWIN: "each tick matches our equations under the engine's own scheme (level scheme)",
    Code.THE_TWIN_BUT_EVENTS: "each of {judged} ticks matches our equations under the engine's own "
    "scheme (level scheme), and in {count} of {others} others, with an event or a joint at its "
    "stop, errors vanish with the step",
    Code.THE_TWIN_BUT_UNRESOLVED: _but_unresolved,
    Code.EVENT_TICKS: "in ticks with an event or a joint at its stop the {quantity} of {where} "
    "keeps {excess:.2g} times the error that time stepping explains (median of {count} ticks), "
    "in that at t = {time:g} s for one",
    Code.NOT_REPEATED: "the same run again differs by {apart:.2g} from t = {time:g} s on, first in "
    "{quantity} of {where}",
    Code.NO_MOVE: lambda of: of["text"] or "there is nothing to move",
    Code.NOT_INVARIANT: _not_invariant,
    Code.NO_FREE_TICK: "every tick has an event or a joint at its stop",
    Code.REFERENCE_ERRS: "the reference's own error is {share:.2g%} of the change or more",
    Code.STEP_ORDER: "the error falls with order {order:.2f} only, at least {least:g} is expected",
    Code.STEP_REMAINDER: "the {where} keeps an error of {left:.2g} (rms) at a physics step of 0, "
    "of which time stepping explains only {bound:.2g}",
    Code.STEP_SHARE: "{share:.2g%} in one step",
    Code.STEP_UNEXPLAINED: _step_unexplained,
    Code.STEP_TOO_LARGE: "one step differs by {share:.3g%} of the change, allowed {limit:g%}",
    Code.STEPPING_EXPLAINS: _stepping_explains,
    Code.STEPPING_HIDES: "time stepping explains {share:.3g%} of the change, which hides what is "
    "smaller: halve the physics step",
    Code.NO_STEP: "no step could be compared",
    Code.REFUSED_STATE: "not in the reference at {time:.4g} s: {text}",
    Code.TOLERANCE_BELOW_NOISE: "the tolerance of {limit:g} m is below the noise floor of "
    "{floor:.2g} m",
    Code.TOO_FAR: "{error:.3gm} mm from the reference at {step:g} s, allowed {limit:gm} mm",
    Code.RUN_ORDER: "converges with order {order:.2f} only, expected {expected} and at least "
    "{least:g}; {error:.3gm} mm are left at {step:g} s",
    Code.RUN_REMAINDER: "{where} keeps an error of {left:.2g} at a physics step of 0, of which "
    "time stepping and round-off explain only {bound:.2g}",
    Code.CHAOTIC: "the motion is chaotic: statistics over seeds compare it in its place",
    Code.THROWN: "but the control loop throws joints from stop to stop (an eigenvalue of its tick "
    "is {loop:.2g}), so the engines' own laws of stops decide the figure: take a shorter "
    "control_period",
    Code.NO_FIGURE: "{runs} runs have no {figure}: seed {seed}: {text}",
    Code.FEW_RUNS: "engine and reference have too few runs with a {figure}",
    Code.SHARES: "{positive:.3g%} of the runs have {figure} above 0, unlike the reference's: "
    "probability {probability:.2g} if the shares were alike",
    Code.UNSETTLED: "the difference of median {figure} is known to +-{precision:.2g} {unit} only, "
    "from seeds and physics step: take more seeds or a smaller step",
    Code.NO_FIGURE_AT_STEP: "at another physics step there is no {figure}: take a smaller step",
    Code.MEDIANS: _medians,
    Code.NO_EVENTS: "nothing happens that an engine logs",
    Code.NO_RESTART: _text,
    Code.EVENT_UNEXPLAINED: _event_unexplained,
    Code.EVENT_MISPLACED: lambda of: f"{_event(of)}: {MISPLACED[of['what']]}",
    Code.EVENT_MISSING: _event_missing,
    Code.NO_BOOK: _text,
    Code.ONLY_GAINS: _only_gains,
    Code.ENERGY_OF_TWIN: lambda of: FORMS.format(
        "the rest of the energy book differs by {left:.2g} J (rms in {length:gm} ms) from that of "
        "our equations under the engine's own scheme, but round-off explains only {bound:.1g} J; "
        "at t = {time:g} s it {gains} more than they do",
        **of,
        gains=_gains(of),
    ),
    Code.ENERGY: _energy,
    Code.SUSPECT: _suspect,
    Code.STEP_FAR: "{share:.3g%} of the change of a step where {allowed:.3g%} are allowed",
    Code.LARGEST_ERROR: "largest error beside what the time step explains",
    Code.OUR_EQUATIONS: "its equations of motion are ours",
    Code.LOG_NOISE: "noise: {size:.2g} rad or m of {where} is {share:.2g%} of what the efforts do "
    "in windows of {window} steps, more than {most:g%}",
    Code.LOG_EFFORT_NOISE: "noise: that of the efforts may make {share:.2g%}",
    Code.LOG_EFFORT_ZERO: "the efforts are all 0 where some acted: this publisher does not measure "
    "them; map another topic or column: --map effort/JOINT=COLUMN",
    Code.LOG_RESIDUALS: _residuals,
    Code.LEVEL_EXCUSED: lambda of: f"{_level(of)} excused: {words_of(of['of'])}",
    Code.LEVEL_WITHIN: lambda of: f"{_level(of)} within: {words_of(of['of'])}",
    Code.NO_EXCUSE_NEEDED: lambda of: f"{_level(of)} needs no excuse here",
    Code.EXCITED: "nothing would move: joints start from the middle of their ranges, under random "
    "efforts of seed {seed} (controller.name=random)",
    Code.SENSITIVE: "{engine}: agree until t = {horizon:.4g} s: by then a change in the last bit "
    "of an initial value has grown to 1 mm",
    Code.SAME_SETTINGS: "{engine}: the same settings as {other}, run once",
}
