"""Read a file of actuators: the factors from what a drive reports to the torque at its joint.

    shoulder: {kt: 0.11, gear: 101, efficiency: 0.85}

The torque is the reported current times all fields of its joint: torque constant, gear ratio and
efficiency of the gear. The efficiency is applied in both directions of power, which is right only
for a joint that drives its load most of the time. Another field is another factor.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from pathlib import Path
from typing import Any

from roboaccord.contract import AccordError, check_known, read_bytes
from roboaccord.description.yaml_files import parse_yaml
from yaml import YAMLError

ENDINGS = (".yaml", ".yml")
FIELDS = {"kt": "N m/A, or N m per count", "gear": "", "efficiency": ""}  # with their units


def read_actuators(path: Path, joints: Collection[str]) -> dict[str, float]:
    """Return the factor of each joint's effort, such as N m/A.

    Args:
        path: YAML file with `kt`, `gear` and `efficiency` by joint; an absent one is 1.
        joints: names of the robot's joints.

    Raises:
        AccordError: if the file cannot be read, or has an unknown joint or field or a value that is
            no number above 0.
    """
    prefix = f"actuators {path}"  # of messages
    try:
        data: Any = parse_yaml(read_bytes(path).decode("utf-8-sig"))
        rows = {str(joint): dict(fields) for joint, fields in data.items()}
    except (AttributeError, TypeError, ValueError, YAMLError) as error:
        reason = str(error).partition("\n")[0]
        raise AccordError(f"{prefix}: not JOINT: {{kt: ..., gear: ...}}: {reason}") from None
    for joint, fields in rows.items():
        check_known(f"{prefix}: unknown joint ", joint, joints)
        for name, value in fields.items():
            check_known(f"{prefix}: {joint}: unknown field ", str(name), FIELDS)
            if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0.0:
                raise AccordError(f"{prefix}: {joint}: {name} is no number above 0: {value}")
    return {joint: math.prod(map(float, fields.values())) for joint, fields in rows.items()}
