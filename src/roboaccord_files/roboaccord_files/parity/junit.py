"""Write the result of a parity check as JUnit XML, which CI servers show as tests.

A robot is a test suite, and each engine a test case of it. command.py calls `junit` for the option
`--junit`. The names of elements and attributes are those of JUnit.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter

from roboaccord_files.parity.result import Parity

# Element within a test case for each status of an engine; a case without one is a success.
ELEMENTS = {"differ": "failure", "refused": "error", "undecided": "skipped"}


def junit(result: Parity) -> str:
    """Return the result as the text of a JUnit file; a case lists the causes with their cures."""
    top = ET.Element("testsuites", name="accord parity")
    for robot in result.robots:
        counts = Counter(robot.status.values())
        numbers = {"tests": len(robot.engines), "failures": counts["differ"]}
        numbers |= {"errors": counts["refused"], "skipped": counts["undecided"]}
        attributes = {"name": robot.name, **{key: str(n) for key, n in numbers.items()}}
        suite = ET.SubElement(top, "testsuite", attributes)
        for name, status in robot.status.items():
            case = ET.SubElement(suite, "testcase", classname=robot.name, name=name)
            if status in ELEMENTS:
                causes = robot.checks["reading"][name].causes
                lines = (f"{c.quantity} at {name}: {c.fix}" for c in causes for name in c.where)
                ET.SubElement(case, ELEMENTS[status], message=status).text = "; ".join(lines)
    return ET.tostring(top, encoding="unicode")
