"""A parity check as JUnit: a suite for each robot, a case for each engine.

JUNIT, what a status is there, stays; a status that is absent is a success. Elements and attributes
are those that readers of JUnit know, and stay; the text of a case may be changed.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter

from roboaccord_files.parity.result import Parity

JUNIT = {"differ": "failure", "refused": "error", "undecided": "skipped"}


def junit(result: Parity) -> str:
    """Return the result as JUnit: a suite for each robot, a case for each engine."""
    top = ET.Element("testsuites", name="accord parity")
    for robot in result.robots:
        kinds = Counter(robot.status.values())
        suite = ET.SubElement(
            top, "testsuite", name=robot.name, tests=str(len(robot.engines)),
            failures=str(kinds["differ"]), errors=str(kinds["refused"]),
            skipped=str(kinds["undecided"]),
        )  # fmt: skip
        for name, status in robot.status.items():
            case = ET.SubElement(suite, "testcase", classname=robot.name, name=name)
            if status in JUNIT:
                ET.SubElement(case, JUNIT[status], message=status).text = "; ".join(
                    f"{cause.quantity} at {place}: {cause.fix}"
                    for cause in robot.checks["reading"][name].causes
                    for place in cause.where
                )
    return ET.tostring(top, encoding="unicode")
