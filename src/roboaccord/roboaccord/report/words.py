"""All that a cross-check says in English: texts of reasons, for terminal and page alike.

A reason has a code (contract/codes.py) and figures by name, which the level that made it chose:
`because(Code.ACCELERATION, error=1e-3, allowed=1e-9)`. TEXTS has for each code a text with the
figures in braces, or a function of them (here or in phrases.py). FORMATTER of phrases.py fills
texts as `str.format` does, and knows lengths in mm (`gm`). `words_of` words a reason, a finding or
the report of a single run. A code without a text, such as that of your own level, is shown by its
name and figures. Texts may be changed: no verdict depends on them (test_words).

In the texts, the twin is the reference, computed again with the engine's own time-stepping scheme.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from roboaccord.contract.outcome import Code, Finding, Outcome, Reason
from roboaccord.crosscheck.causes.explain import MOST_CAUSES
from roboaccord.crosscheck.report import Report
from roboaccord.report import phrases
from roboaccord.report.cause_words import summary_of, text_of, unnoticed, with_interval
from roboaccord.report.phrases import FORMATTER, Figures


def words_of(what: Reason | Finding | Report | Sequence[Reason]) -> str:
    """Return one line: a reason, the reasons of a finding, or the report of a single run."""
    if isinstance(what, Report):
        return _line(what)
    if isinstance(what, Finding):
        text = words_of(what.reasons)
        return f"{what.excuse} ({text})" if what.outcome == Outcome.EXCUSED else text
    if not isinstance(what, Reason):
        return _joined(map(words_of, what))
    template = TEXTS.get(what.code)
    if template is None:
        figures = ", ".join(f"{name} {_plain(value)}" for name, value in what.figures.items())
        return ": ".join(filter(None, [str(what.code).replace("_", " "), figures]))
    if callable(template):
        return template(what.figures)
    return FORMATTER.format(template, **what.figures)


def _line(report: Report) -> str:
    """Return the report of a single recorded run as one line."""
    step = report.step
    others = [finding for finding in report.levels.findings if finding.level != "one_step"]
    words = [
        f"one step {_outcome(report.finding)}: {100 * step.relative:.3g} % of the change, allowed "
        f"{100 * step.allowed:.3g} %",
        f"{step.compared} of {step.ticks} ticks compared, {step.left_out} left out, "
        f"{step.skipped} skipped, delay {step.delay} ticks",
        report.finding.reason,
    ]
    for finding in others:
        reason = f": {finding.reason}" if finding.reason else ""
        words.append(f"{finding.level} {_outcome(finding)}{reason}")
    return ("undecided: " if report.verdict == "undecided" else "") + _joined(words)


def _joined(words: Iterable[str]) -> str:
    """Return the words that are not empty, joined by semicolons."""
    return "; ".join(filter(None, words))


def _outcome(finding: Finding) -> str:
    """Return the outcome of a finding in words."""
    return finding.outcome.replace("_", " ")


def _plain(value: object) -> str:
    """Return the value of a figure as text."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _text(figures: Figures) -> str:
    """Return a text that a user, an engine or an error gave."""
    engine = f"{figures['engine']}: " if "engine" in figures else ""
    return f"{engine}{figures['text']}"


def _but_unresolved(figures: Figures) -> str:
    """Return that only ticks without an event could be compared with the twin."""
    text = "each tick without an event matches the twin; the reference does not resolve the others"
    return f"{text} ({words_of(figures['of'])})"


def _suspect(figures: Figures) -> str:
    """Return since when a run is outside, by how much, and the suspected cause."""
    how_far, what = words_of(figures["how_far"]), words_of(figures["what"])
    return f"outside since t = {figures['since']:g} s, {how_far}: {figures['link']}: {what}"


def _residuals(figures: Figures) -> str:
    """Return the size of the residuals in windows of a log, and what explains them."""
    explanation = figures["of"]
    form = "residuals of {share:.3g%} of what the efforts do in {window} steps"
    text = FORMATTER.format(form, **figures)
    if explanation.causes:
        sets = (explanation.causes, *explanation.instead)
        return f"{text}: {'; or '.join('; '.join(map(with_interval, causes)) for causes in sets)}"
    first, last = figures["span"]
    where = f"{figures['where']}, from {first:.3g} to {last:.3g} s"
    text += f", which no {MOST_CAUSES} known errors explain; look at {where}"
    most = "; ".join(map(with_interval, explanation.most))
    return f"{text}; most of it by {most}" if most else text


def _level(figures: Figures) -> str:
    """Return engine and level."""
    return f"{figures['engine']}: {figures['level']}"


TEXTS: dict[str, str | Callable[[Figures], str]] = {
    # Of several levels.
    Code.TEXT: _text,
    Code.BELOW_ROUND_OFF: "below round-off",
    Code.ALLOWED: phrases.allowed_limit,
    Code.FEW_JUDGED: phrases.few_judged,
    Code.FEW_STEPS: "{steps} physics steps are needed for a verdict: --refine {steps}",
    Code.COARSE: lambda figures: (
        "the physics step is too large to find out why; halve the step, to "
        f"{figures['step'] / 2:g} s at the finest, by one more --refine"
    ),
    Code.NOTHING_MOVES: "nothing moves: give it rates at the start, such as "
    "--set initial.qd.JOINT=0.5, or efforts",
    Code.NOTHING_CAN_MOVE: "nothing can move",
    Code.KINEMATIC: "the reference is kinematic: one step compares the rates in its place",
    Code.HIDDEN: lambda figures: unnoticed(**figures),
    Code.CAUSE: lambda figures: text_of(figures["of"]),
    # Level acceleration: model and accelerations.
    Code.MODEL: phrases.model_difference,
    Code.ACCELERATION: "accelerations differ by {error:.2g} relative, allowed {allowed:.0e}",
    Code.OFF_BY: "{size:.2g} {unit} off",
    Code.OFF_BY_SHARE: phrases.off_by_share,
    Code.OFF_BY_ANGLE: phrases.off_by_angle,
    Code.INSTEAD: phrases.value_instead,
    Code.READS: phrases.state_read_back,
    Code.MISSING: phrases.missing_part,
    # Level drive: efforts in force.
    Code.NO_COMMAND: "no efforts are commanded; the motion shows whether a wrench or a twist acts",
    Code.DISOBEYED: phrases.effort_disobeyed,
    Code.SWITCH_DISOBEYED: phrases.switch_disobeyed,
    # Level scheme: the twin.
    Code.BELOW_SINGLE: lambda figures: (
        "below single precision, which could hide errors below these: "
        f"{summary_of(figures['of']) or 'not known'}"
    ),
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
    # Level repeat.
    Code.NOT_REPEATED: "the same run again differs by {apart:.2g} from t = {time:g} s on, first in "
    "{quantity} of {where}",
    # Level invariance.
    Code.NO_MOVE: lambda figures: figures["text"] or "there is nothing to move",
    Code.NOT_INVARIANT: phrases.not_invariant,
    # Level one_step.
    Code.NO_FREE_TICK: "every tick has an event or a joint at its stop",
    Code.REFERENCE_ERRS: "the reference's own error is {share:.2g%} of the change or more",
    Code.STEP_ORDER: "the error falls with order {order:.2f} only, at least {least:g} is expected",
    Code.STEP_REMAINDER: "at a physics step of 0 the {where} has an error of {left:.2g} (rms), but "
    "time stepping explains only {bound:.2g}",
    Code.STEP_SHARE: "{share:.2g%} in one step",
    Code.STEP_UNEXPLAINED: phrases.step_unexplained,
    Code.STEP_TOO_LARGE: "one step differs by {share:.3g%} of the change, allowed {limit:g%}",
    Code.STEPPING_EXPLAINS: phrases.stepping_explains,
    Code.STEPPING_HIDES: "time stepping explains {share:.3g%} of the change, which hides what is "
    "smaller: halve the physics step",
    Code.NO_STEP: "no step could be compared",
    Code.REFUSED_STATE: "not in the reference at {time:.4g} s: {text}",
    # Level trajectory.
    Code.TOLERANCE_BELOW_NOISE: "the tolerance of {limit:g} m is below the noise floor of "
    "{floor:.2g} m",
    Code.TOO_FAR: "{error:.3gm} mm from the reference at {step:g} s, allowed {limit:gm} mm",
    Code.RUN_ORDER: "converges with order {order:.2f} only, expected {expected} and at least "
    "{least:g}; {error:.3gm} mm remain at {step:g} s",
    Code.RUN_REMAINDER: "at a physics step of 0 {where} has an error of {left:.2g}, but time "
    "stepping and round-off explain only {bound:.2g}",
    Code.CHAOTIC: "the motion is chaotic: statistics over seeds compare it in its place",
    # Level statistics.
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
    Code.MEDIANS: phrases.medians_differ,
    # Level events.
    Code.NO_EVENTS: "nothing happens that an engine logs",
    Code.NO_RESTART: _text,
    Code.EVENT_UNEXPLAINED: phrases.event_unexplained,
    Code.EVENT_MISPLACED: phrases.event_misplaced,
    Code.EVENT_MISSING: phrases.event_missing,
    # Level energy.
    Code.NO_BOOK: _text,
    Code.ONLY_GAINS: phrases.only_gains,
    Code.ENERGY_OF_TWIN: lambda figures: FORMATTER.format(
        "the rest of the energy book differs by {left:.2g} J (rms in {length:gm} ms) from that of "
        "our equations under the engine's own scheme, but round-off explains only {bound:.1g} J; "
        "at t = {time:g} s it {gains} more than they do",
        **figures,
        gains=phrases.energy_gain(figures),
    ),
    Code.ENERGY: phrases.energy_unexplained,
    Code.CONTACT_LAW: "its own contacts break the law {law} by {value:.2g} [{unit}] at "
    "t = {time:g} s, but its tolerances explain only {allowed:.1g}",
    # A live run that is outside (crosscheck/cause.py).
    Code.SUSPECT: _suspect,
    Code.STEP_FAR: "{share:.3g%} of the change of a step where {allowed:.3g%} are allowed",
    Code.LARGEST_ERROR: "largest error beyond what time stepping explains",
    Code.OUR_EQUATIONS: "its equations of motion are ours",
    # Logs of motions that were recorded elsewhere.
    Code.LOG_NOISE: "noise: {size:.2g} rad or m of {where} is {share:.2g%} of what the efforts do "
    "in windows of {window} steps, more than {most:g%}",
    Code.LOG_EFFORT_NOISE: "noise: that of the efforts may make {share:.2g%}",
    Code.LOG_EFFORT_ZERO: "the efforts are all 0 where some acted: this publisher does not measure "
    "them; map another topic or column: --map effort/JOINT=COLUMN",
    Code.LOG_RESIDUALS: _residuals,
    # Remarks on findings and notes on the whole check.
    Code.LEVEL_EXCUSED: lambda figures: f"{_level(figures)} excused: {words_of(figures['of'])}",
    Code.LEVEL_WITHIN: lambda figures: f"{_level(figures)} within: {words_of(figures['of'])}",
    Code.NO_EXCUSE_NEEDED: lambda figures: f"{_level(figures)} needs no excuse here",
    Code.EXCITED: "nothing would move: joints start from the middle of their ranges, under random "
    "efforts of seed {seed} (controller.name=random)",
    Code.SENSITIVE: "{engine}: agree until t = {horizon:.4g} s: by then a change in the last bit "
    "of an initial value has grown to 1 mm",
    Code.SAME_SETTINGS: "{engine}: the same settings as {other}, run once",
}
