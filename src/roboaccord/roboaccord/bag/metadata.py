"""Metadata of a bag: the file metadata.yaml, and what rosbag2 stores in the MCAP file itself.

A bag is a recording of ROS 2, written by rosbag2, whose keys these are. It may come from anybody:
a text that is no mapping is read as an empty one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from roboaccord.contract import AccordError, read_text
from roboaccord.description.yaml_files import parse_record

INFORMATION = "rosbag2_bagfile_information"  # top key of metadata.yaml


def load_yaml(text: str) -> dict[str, Any]:
    """Return the mapping in a YAML text; an empty one for any other text."""
    try:
        data = parse_record(text)
    except yaml.YAMLError:
        return {}
    return data if isinstance(data, dict) else {}


def read_metadata(bag: Path) -> dict[str, Any]:
    """Return the information in a bag's metadata.yaml; empty where it cannot be read."""
    try:
        text = read_text(bag / "metadata.yaml")
    except AccordError:
        return {}
    information = load_yaml(text).get(INFORMATION)
    return information if isinstance(information, dict) else {}


def custom_data(metadata: dict[str, Any]) -> dict[str, str]:
    """Return the custom data that the writer of a bag stored, as texts."""
    data = metadata.get("custom_data")
    return {str(k): str(v) for k, v in data.items()} if isinstance(data, dict) else {}
