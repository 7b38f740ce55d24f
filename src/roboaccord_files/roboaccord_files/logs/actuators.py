"""A file of actuators: what makes the torque at a joint of what its drive reports.

    shoulder: {kt: 0.11, gear: 101, efficiency: 0.85}

FIELDS may be added to: all are factors of the effort. Efficiency counts alike in both directions of
power, so it is that of a joint that mostly drives.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from pathlib import Path
from typing import Any

from roboaccord.contract.errors import AccordError, check_known
from roboaccord.contract.files import read_bytes
from roboaccord.description.yaml_files import parse_yaml
from yaml import YAMLError

ENDINGS = (".yaml", ".yml")
FIELDS = {"kt": "N m/A, or N m per count", "gear": "", "efficiency": ""}


def read_actuators(path: Path, joints: Collection[str]) -> dict[str, float]:
    """Return the factors of efforts by joint, such as N m/A.

    Args:
        path: YAML, with `kt`, `gear` and `efficiency` of joints; what lacks is 1.
        joints: of the robot.

    Raises:
        AccordError: for a file that cannot be read, a joint that there is not, or no number.
    """
    broken, factors = f"actuators {path}", dict[str, float]()
    try:
        data: Any = parse_yaml(read_bytes(path).decode("utf-8-sig"))
        rows = {str(joint): dict(fields) for joint, fields in data.items()}
    except (AttributeError, TypeError, ValueError, YAMLError) as error:
        reason = str(error).partition("\n")[0]
        raise AccordError(f"{broken}: not JOINT: {{kt: ..., gear: ...}}: {reason}") from None
    for joint, fields in rows.items():
        check_known(f"{broken}: unknown joint ", joint, joints)
        for name, value in fields.items():
            check_known(f"{broken}: {joint}: unknown field ", str(name), FIELDS)
            if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0.0:
                raise AccordError(f"{broken}: {joint}: {name} is no number above 0: {value}")
        factors[joint] = math.prod(float(value) for value in fields.values())
    return factors
