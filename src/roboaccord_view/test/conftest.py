"""Fixtures of a ROS graph, which are those of roboaccord_ros."""

from __future__ import annotations

import runpy
from pathlib import Path

ROS = Path(__file__).resolve().parents[2] / "roboaccord_ros" / "test" / "conftest.py"
globals().update(runpy.run_path(str(ROS)) if ROS.is_file() else {})
