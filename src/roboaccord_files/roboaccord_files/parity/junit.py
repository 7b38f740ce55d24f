"""Write the result of a parity check as JUnit XML, which CI servers show as tests.

A robot is a test suite, and each engine one test case of it. JUNIT has the element of a case for
each status; a status that is not in it is a success. The names of elements and attributes are those
of JUnit.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter

from roboaccord_files.parity.result import Parity

JUNIT = {"differ": "failure", "refused": "error", "undecided": "skipped"}


def junit(result: Parity) -> str:
    """Return the result as the text of a JUnit file; a case lists the causes with their cures."""
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
                causes = robot.checks["reading"][name].causes
                lines = (f"{c.quantity} at {place}: {c.fix}" for c in causes for place in c.where)
                ET.SubElement(case, JUNIT[status], message=status).text = "; ".join(lines)
    return ET.tostring(top, encoding="unicode")
