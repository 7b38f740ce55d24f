"""Metadata of a bag: the file metadata.yaml, and what rosbag2 stores in the MCAP file itself.

Keys are fixed by rosbag2. Metadata come from anybody: what is not a mapping is read as nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from roboaccord.contract.errors import AccordError
from roboaccord.contract.files import read_text
from roboaccord.description.yaml_files import parse_record

INFORMATION = "rosbag2_bagfile_information"


def load_yaml(text: str) -> dict[str, Any]:
    """Return the mapping in a YAML text; empty where there is none."""
    try:
        data = parse_record(text)
    except yaml.YAMLError:
        return {}
    return data if isinstance(data, dict) else {}


def read_metadata(bag: Path) -> dict[str, Any]:
    """Return the content of a bag folder's metadata.yaml; empty where there is none."""
    try:
        text = read_text(bag / "metadata.yaml")
    except AccordError:
        return {}
    information = load_yaml(text).get(INFORMATION)
    return information if isinstance(information, dict) else {}


def custom_data(metadata: dict[str, Any]) -> dict[str, str]:
    """Return the custom data of the writer of a bag."""
    data = metadata.get("custom_data")
    return {str(k): str(v) for k, v in data.items()} if isinstance(data, dict) else {}
