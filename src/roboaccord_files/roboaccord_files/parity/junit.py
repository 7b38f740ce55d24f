"""A parity check as JUnit: a suite for each robot, a case for each engine.

JUNIT, what a status is there, stays; a status that is absent is a success. Elements and attributes
are those that readers of JUnit know, and stay; the text of a case may be changed.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter

from roboaccord_files.parity.result import Parity, ReadingStatus

JUNIT = {
    ReadingStatus.DIFFER: "failure",
    ReadingStatus.REFUSED: "error",
    ReadingStatus.UNDECIDED: "skipped",
}


def junit(result: Parity) -> str:
    """Return the result as JUnit: a suite for each robot, a case for each engine."""
    top = ET.Element("testsuites", name="accord parity")
    for robot in result.robots:
        kinds = Counter(engine.status for engine in robot.engines.values())
        suite = ET.SubElement(
            top, "testsuite", name=robot.name, tests=str(len(robot.engines)),
            failures=str(kinds[ReadingStatus.DIFFER]), errors=str(kinds[ReadingStatus.REFUSED]),
            skipped=str(kinds[ReadingStatus.UNDECIDED]),
        )  # fmt: skip
        for name, engine in robot.engines.items():
            case = ET.SubElement(suite, "testcase", classname=robot.name, name=name)
            if engine.status in JUNIT:
                ET.SubElement(case, JUNIT[engine.status], message=engine.status).text = "; ".join(
                    f"{cause.cause} at {place}: {cause.fix}"
                    for cause in engine.examined.causes
                    for place in cause.places
                )
    return ET.tostring(top, encoding="unicode")
