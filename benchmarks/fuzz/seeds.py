"""Good files of every kind, which the fuzzer then changes."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path
from typing import Any

import trimesh
import yaml
from hostile_files import large
from PIL import Image
from roboaccord.cli.main import run
from roboaccord.description.resources import share
from rosbags.rosbag2 import CompressionFormat, CompressionMode, Reader, StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore
from test_commands import ROOT

SCENARIOS = ("snake serpenoid", "monkeybot clocked", "roller_sphere dribble")
N = 20  # voxels: small files, and a terrain still
WARM = (
    *(f"run {robot} scenarios/{robot}.yaml --transport direct --out warm/{robot}"
      for robot in ("monkeybot", "roller_sphere")),
    "run arm.urdf --transport direct --set duration=0.02 --out warm/arm",
    "crosscheck log.csv --robot hinge.urdf", "crosscheck arm_run/bag",
    "packbot look --hulls meshes --out warm/hulls", "crosscheck run/bag serpenoid",
    "view run/bag --gif warm/x.gif --size 64x64 --fps 2", "snake shapes --out warm/x.svg",
    "voxel-sphere roll terrain --omega 1 1 --time 0.01 --out warm/x.csv",
    "voxel-sphere mesh terrain --out warm/x.stl --heights warm/x.npy",
)  # fmt: skip
XACRO = """<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:property name="m" value="0.5"/>
  <xacro:macro name="bar" params="n p"><link name="${n}"><inertial><mass value="${2*m}"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="j_${n}" type="revolute"><parent link="${p}"/><child link="${n}"/>
    <axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="5" velocity="3"/></joint></xacro:macro>
  <link name="base_link"/>
  <xacro:bar n="a" p="base_link"/><xacro:bar n="b" p="a"/>
</robot>
"""
MESHED = """<robot name="one"><link name="base_link"/><link name="a"><inertial><mass value="1"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><mesh filename="MESH"/></geometry></visual>
<collision><geometry><mesh filename="MESH" scale="1 1 1"/></geometry></collision></link>
<joint name="j" type="continuous"><parent link="base_link"/><child link="a"/><axis xyz="0 1 0"/>
</joint></robot>"""

HINGE = """<robot name="arm"><link name="base"/>
<link name="rod"><inertial><origin xyz="0.5 0 0"/><mass value="2"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="hinge" type="revolute"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="2" effort="10" velocity="5"/></joint></robot>"""


def make_seeds(folder: Path) -> None:
    """Make the good files in a folder, which is the present one."""
    (folder / "scenarios").mkdir()
    for words in SCENARIOS:
        robot, name = words.split()
        path = share(robot) / "scenarios" / f"{name}.yaml"
        if path.is_file():
            data = yaml.safe_load(path.read_text()) | {"duration": 0.02, "robot": robot}
            (folder / "scenarios" / f"{robot}.yaml").write_text(yaml.safe_dump(data))
    shutil.copy(share("roboaccord") / "config" / "teleop" / "keyboard.yaml", folder / "keys.yaml")
    shutil.copy(share("snake") / "config" / "parameters.yaml", folder / "parameters.yaml")
    shutil.copy(ROOT / "src/roboaccord/test/data/urdf/TwoDofs.urdf", folder / "arm.urdf")
    shutil.copy(ROOT / "worlds" / "flat.sdf", folder / "flat.sdf")
    (folder / "arm.urdf.xacro").write_text(XACRO)
    (folder / "hinge.urdf").write_text(HINGE)
    large(folder / "large")  # here, for the inputs may not write as much
    box = trimesh.creation.icosphere(subdivisions=1)
    (folder / "meshes").mkdir()
    for ending in ("stl", "obj", "dae", "ply", "glb", "off"):
        box.export(folder / "meshes" / f"ball.{ending}")
    (folder / "meshes" / "text.stl").write_text(trimesh.exchange.stl.export_stl_ascii(box))
    _do("run snake serpenoid --transport direct --set duration=0.02 --out run")
    _do(f"voxel-sphere make bowl --n {N} --out terrain")
    _do("run hinge.urdf --transport direct --set duration=0.3 --out arm_run")
    _do("export arm_run/bag --csv log.csv --npz log.npz")
    (folder / "warm").mkdir()
    for words in WARM:  # what compiles kernels, so that they are there for all that follow
        _do(words)
    shutil.rmtree(folder / "warm")
    with Image.open(next((folder / "terrain").rglob("*.png"))) as picture:
        for name in ("slice.tif", "slice.bmp", "slice.jpg"):
            picture.convert("L").save(folder / name)
    bag = folder / "run" / "bag"
    messages = _messages(bag)
    _write(folder / "arm_bag", _messages(folder / "arm_run" / "bag"), "sqlite3", "NONE")
    (folder / "bags").mkdir()
    shutil.copytree(bag, folder / "bags" / "own")
    for storage in ("mcap", "sqlite3"):
        for mode in ("NONE", "MESSAGE", "FILE"):
            _write(folder / "bags" / f"{storage}_{mode.lower()}", messages, storage, mode)


def _do(words: str) -> None:
    if run(shlex.split(words)):
        raise RuntimeError(f"accord {words} failed")


def _messages(bag: Path) -> list[tuple[str, str, int, bytes]]:
    with Reader(bag) as reader:
        return [(c.topic, c.msgtype, t, bytes(data)) for c, t, data in reader.messages()]


def _write(path: Path, messages: list[Any], storage: str, mode: str) -> None:
    store = get_typestore(Stores.ROS2_JAZZY)
    made = Writer(path, version=9, storage_plugin=StoragePlugin[storage.upper()])
    if mode != "NONE":
        made.set_compression(CompressionMode[mode], CompressionFormat.ZSTD)
    with made as writer:
        known: dict[str, Any] = {}
        for topic, kind, time_ns, data in messages:
            if topic not in known:
                known[topic] = writer.add_connection(topic, kind, typestore=store)
            writer.write(known[topic], time_ns, data)
