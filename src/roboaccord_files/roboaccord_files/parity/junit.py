"""Write the result of a parity check as JUnit XML, which CI servers show as tests.

A robot is a test suite, and each engine a test case of it. command.py calls `junit` for the option
`--junit`. The names of elements and attributes are those of JUnit.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter

from roboaccord_files.parity.result import Parity

# Attribute of a test suite for the number of engines of each status, but for successes.
COUNTED = {"failures": "differ", "errors": "refused", "skipped": "undecided"}
# Element within a test case for each status of an engine; a case without one is a success.
ELEMENTS = {"differ": "failure", "refused": "error", "undecided": "skipped"}


def junit(result: Parity) -> str:
    """Return the result as the text of a JUnit file; a case lists the causes with their cures."""
    top = ET.Element("testsuites", name="accord parity")
    for robot in result.robots:
        counts = Counter(robot.status.values())
        suite = ET.SubElement(top, "testsuite", name=robot.name, tests=str(len(robot.engines)))
        for attribute, status in COUNTED.items():
            suite.set(attribute, str(counts[status]))
        for name, status in robot.status.items():
            case = ET.SubElement(suite, "testcase", classname=robot.name, name=name)
            if status in ELEMENTS:
                causes = robot.checks["reading"][name].causes
                lines = (f"{c.quantity} at {name}: {c.fix}" for c in causes for name in c.where)
                ET.SubElement(case, ELEMENTS[status], message=status).text = "; ".join(lines)
    return ET.tostring(top, encoding="unicode")
