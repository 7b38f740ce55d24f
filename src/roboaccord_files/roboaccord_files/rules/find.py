"""Apply all rules to a robot's file, and return their findings by line.

`findings` is the work of `accord check`, and `ra.findings`. A finder is a function that takes the
file (source.py) and yields findings: rule, element, message and cure. FINDERS lists those of this
package; others are the core's (names, numbers and structure that it refuses), and the traps of
roboaccord_files.repair (text that readers interpret differently), each of which is a rule, too.
Every rule is a row of rules.yaml. Where one fault is found by several rules, the first reports it
(CHAINS).
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from roboaccord.description.broken import Found, broken_names, broken_numbers, broken_structure
from roboaccord.description.source import label, numbers
from roboaccord.description.urdf_file import UrdfFile
from roboaccord.engines.formats import read_robot

from roboaccord_files.repair.find import find_traps
from roboaccord_files.repair.inertial import inertials
from roboaccord_files.repair.inertias import moments_text
from roboaccord_files.rules.extensions import find_extensions, find_in_sdf
from roboaccord_files.rules.findings import RuleFinding
from roboaccord_files.rules.joints import joints, mimics
from roboaccord_files.rules.names import blanks, names, references
from roboaccord_files.rules.parts import complete, drawn, meshes
from roboaccord_files.rules.plausible import plausible
from roboaccord_files.rules.readers import find_readers
from roboaccord_files.rules.source import Source
from roboaccord_files.rules.table import RULES
from roboaccord_files.rules.units import units, weighed

# Rules whose findings make a file unreadable for the search for traps, which is then left out.
UNREADABLE = ("number-invalid", "number-count", "link-loop")
# Rules that find the same fault of an element; only the first of a chain that does is reported.
CHAINS = (
    ("inertia-in-another-unit", "inertia-unit", "gyration-beyond-shape"),
    ("mass-unit", "density"),
    ("centre-of-mass-unit", "centre-outside-shape"),
)
# Rule, element, message and cure.
Finding = tuple[str, ET.Element, str, str]
FINDERS: tuple[Callable[[Source], Found], ...] = (
    names, references, blanks, units, joints, mimics, complete, drawn, meshes, find_extensions,
    plausible, find_readers, find_in_sdf,
)  # fmt: skip


def findings(file: UrdfFile | str | Path, mass: float = 0.0) -> list[RuleFinding]:
    """Return the findings of all rules in a file, sorted by line.

    Args:
        file: as it was read, or its path.
        mass: what the robot weighs [kg]; 0 if unknown.

    Raises:
        AccordError: if the file cannot be read.
    """
    file = file if isinstance(file, UrdfFile) else read_robot(Path(file))
    source, path = Source(file), from_here(file.path)
    structure = (broken_names, broken_numbers, broken_structure)
    all_findings = [*chain.from_iterable(find(source.top) for find in structure)]
    all_findings += chain.from_iterable(find(source) for find in FINDERS)
    all_findings += weighed(source, mass) if mass else ()
    all_findings = [*_without_consequences(all_findings)]
    rules = {rule for rule, *_ in all_findings}
    if rules.isdisjoint(UNREADABLE):
        all_findings += [finding for finding in _traps(source) if finding[0] not in rules]
    # Elements that the conversion to URDF made, or whose mass is unknown, are no fault of the file.
    ignored = {*file.made, *file.unweighed}
    reported = [
        RuleFinding(rule, RULES[rule].severity, path, source.line(element), message, cure)
        for rule, element, message, cure in all_findings
        if element.get("name") not in ignored
    ]
    return sorted(reported, key=lambda finding: (finding.line, finding.rule))


def unreadable(path: Path, reason: str) -> RuleFinding:
    """Return the finding that stands for a file that cannot be read as a robot."""
    rule = "file-unreadable"
    return RuleFinding(rule, RULES[rule].severity, from_here(path), 1, reason, "correct the file")


def rule_of(cause: str) -> str:
    """Return the name of the rule of a trap."""
    return cause.lower().replace(" ", "-")


def _without_consequences(findings: Sequence[Finding]) -> Iterator[Finding]:
    """Yield findings, without those of elements for which an earlier rule of a chain has one."""
    present = {(rule, element) for rule, element, *_ in findings}
    for finding in findings:
        rule, element, *_ = finding
        rules = next((rules for rules in CHAINS if rule in rules), (rule,))
        earlier_rules = rules[: rules.index(rule)]
        if present.isdisjoint((earlier, element) for earlier in earlier_rules):
            yield finding


def from_here(path: Path) -> str:
    """Return a path relative to the current folder, if the file is in it, else absolute."""
    folder, path = Path.cwd(), path.absolute()
    return str(path.relative_to(folder) if path.is_relative_to(folder) else path)


def _traps(source: Source) -> Found:
    """Yield the traps of a text, and meshes in a wrong unit, as findings."""
    inertias = inertials(source.top)
    for trap in find_traps(source.file.text):
        rule = rule_of(trap.cause)
        if rule.startswith("duplicate-"):  # the core finds these, too
            continue
        elements = {e.get("name", ""): e for e in source.top.findall(trap.of)}
        for name in trap.where:
            element = elements.get(name, source.top)
            has_mass = any(numbers(element.find("inertial/mass"), "value"))
            if rule == "0-kg-link-with-an-inertia" and has_mass:
                continue  # its mass is below 0, which another rule finds
            message = f"{label(element)}: {RULES[rule].what}"
            if rule == "non-physical-inertia":
                message += f": {moments_text(inertias[name][1])}"
            yield rule, element, message, trap.fix
    for name, factor in source.misscaled.items():
        element = source.links[name]
        comparison = "larger" if factor < 1.0 else "smaller"
        message = f"{label(element)}: a mesh far {comparison} than the robot"
        cure = f"scale it by {factor:g}, or so: {' '.join(3 * [f'{factor:g}'])} in place of 1 1 1"
        yield "mesh-scale", element, message, cure
