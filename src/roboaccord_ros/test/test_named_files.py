"""Nodes open the files that they were started with, and none that `/R/scenario` names."""

from __future__ import annotations

import json

import pytest
from roboaccord.cdr import encode_string
from roboaccord.contract.errors import AccordError
from roboaccord.door import run
from roboaccord.scenario import path_changes
from roboaccord.scenario.setups import load_setup
from slow_cases import late

pytest.importorskip("rclpy", reason="rclpy is not installed")

from roboaccord_ros.graph.reading import read_scenario

URDF = """<robot name="arm"><link name="trunk"/>
<link name="rod"><inertial><origin xyz="0.5 0 0"/><mass value="2"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="hinge" type="revolute"><parent link="trunk"/><child link="rod"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="2" effort="10" velocity="5"/></joint></robot>
"""


@pytest.fixture
def stated(tmp_path):
    """Return a robot's file, and what a simulator states of its run."""
    file = tmp_path / "arm.urdf"
    file.write_text(URDF, encoding="utf-8")
    path = tmp_path / "path.csv"
    path.write_text("time,hinge\n0,0\n1,0.1\n", encoding="utf-8")
    follow = [f"controller={json.dumps({'name': 'follow', 'file': str(path)})}"]
    data = load_setup(str(file), "", follow).scenario.data()
    rest = {"engine": "reference", "engine_version": "1", "transport": "ros"}
    return data, encode_string(json.dumps({"scenario": data, **rest}))


@pytest.mark.parametrize("missing", ["robot", "controller.file"])
def test_a_file_that_a_message_names_is_not_read(stated, missing):
    """One line says which key it is, and that the node can be started with it."""
    data, message = stated
    changes = [each for each in path_changes(data) if not each.startswith(f"{missing}=")]
    with pytest.raises(AccordError, match=f"{missing}: .* is not read; only .*: --set {missing}="):
        read_scenario("arm", changes, message)


@pytest.mark.parametrize("transport", ["ros", *late("ros_processes")])
def test_files_that_a_run_is_started_with_reach_its_nodes(tmp_path, stated, transport):
    """A robot's file and a trajectory's are opened in each process of a run."""
    done = run(
        tmp_path / "arm.urdf",
        settings={
            "duration": 0.02,
            "controller": {"name": "follow", "file": str(tmp_path / "path.csv")},
        },
        transport=transport,
        out=tmp_path / "run",
    )
    assert len(done.trajectory) == 21
