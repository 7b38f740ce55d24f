"""Whatever is read is bounded: each reader, each hostile file, and no reader beside them."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hostile_files import GARBAGE, READERS
from roboaccord.contract.errors import AccordError
from roboaccord.engines import formats
from workspace import PACKAGES, ROOT

PEAK = 1.5e9  # bytes: NumPy, the libraries, and two copies of the largest file
SCRIPT = ROOT / "test" / "hostile_files.py"


QUICK = ("fifo", "device", "large", "bomb")
ALL = (*QUICK, "folder", *(label.partition(" ")[0] for label in GARBAGE))


@pytest.mark.parametrize("kinds", [QUICK, pytest.param(ALL, marks=pytest.mark.slow)])
def test_every_reader_refuses_hostile_files_in_a_line_and_in_bounded_memory(kinds, tmp_path):
    """A FIFO, a device, a folder, a file too large, garbage, and what unpacks to too much."""
    command = [sys.executable, SCRIPT, tmp_path, *kinds]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, (found[-1:], done.stderr[-2000:])
    last = {(row, case): outcome for row, case, outcome in found}
    assert float(last.pop(("memory", "peak"))) < PEAK
    assert {key: out for key, out in last.items() if out not in ("refused", "left out")} == {}
    for row, readers in READERS.items():
        for file in readers:
            assert all((row, f"{file.name}, {what}") in last for what in QUICK[:3])


def test_the_table_of_what_is_read_has_each_reader() -> None:
    page = (ROOT / "docs" / "robustness.md").read_text(encoding="utf-8")
    table = page.partition("### What is read")[2].partition("###")[0]
    rows = re.findall(r"^\| (.*?) \| .* \|$", table, re.MULTILINE)
    assert rows[1:] == [*READERS]


OPENS = frozenset(
    "open read_text read_bytes fromfile loadtxt genfromtxt memmap open_memmap loadmat read_csv "
    "imread load_mesh load_scene from_xml_path from_file AddModels ZipFile connect iterparse "
    "file_digest parseFile process_file".split()
)
OF_MODULES = {("np", "load"), ("ET", "parse"), ("yaml", "load"), ("pickle", "load")}
NAMES = re.compile(rf"\b(?:{'|'.join({*OPENS, *(name for _, name in OF_MODULES)})})\b")
WRITES = {"w", "wb", "a", "x"}
PACKAGE = "of an installed package"
OWN = "of this process, or of this user's own in a folder that is nobody else's"
CHECKED = "a regular file of bounded size, by contract/files.py before"
FENCED = "in a process of its own with limits, by description/isolated.py"
AGAIN = "after its text was read, in a process of parity with limits"
WHOLE = "in parts, of any size; a regular file, by contract/files.py before"
KNOWN = {
    "packbot/contact/laws:never_touching": PACKAGE,
    "packbot/model/parameters:named_poses": PACKAGE,
    "roboaccord/bag/records:messages": WHOLE,
    "roboaccord/bag/storage:_definitions": PACKAGE,
    "roboaccord/bag/storage:write_unfinished": PACKAGE,
    "roboaccord/bag/writer:__enter__": "opens the writer of a bag",
    "roboaccord/cli/about:templates": PACKAGE,
    "roboaccord/contract/plugins:_index": PACKAGE,
    "roboaccord/gazebo/window:": PACKAGE,
    "roboaccord/gazebo/world:_template": PACKAGE,
    "roboaccord/cli/start:_orphans": OWN,
    "roboaccord/description/meshes:_read_parts": CHECKED,
    "roboaccord/description/meshes:_read_one_part": CHECKED,
    "roboaccord/description/yaml_files:_load": "a text",
    "roboaccord/description/xacro_file:expand_xacro": f"{PACKAGE}, or {FENCED}",
    "roboaccord/engines/mujoco/missing:compile_file": FENCED,
    "roboaccord/engines/mujoco/reader:_of_urdf": AGAIN,
    "roboaccord/engines/mujoco/reader:_of_mjcf": f"after it was read {FENCED}",
    "roboaccord/numerics/kernel_digest:_compiler_digest": PACKAGE,
    "roboaccord/numerics/isolation:_lines": OWN,
    "roboaccord/numerics/isolation:_work": OWN,
    "roboaccord/numerics/jit_cache:_acquire": OWN,
    "roboaccord/numerics/kernel_digest:_describe_value": PACKAGE,
    "roboaccord/numerics/machine:memory_limit": OWN,
    "roboaccord/numerics/machine:unpacked": PACKAGE,
    "roboaccord/report/plots:load": PACKAGE,
    "roboaccord/report/plots:render_page": PACKAGE,
    "roboaccord/report/plots:source": OWN,
    "roboaccord/run/versions:_digest": PACKAGE,
    "roboaccord_drake/load:load_sdf": FENCED,
    "roboaccord_drake/reader:_load_urdf": AGAIN,
    "roboaccord_bench/scene:_render": PACKAGE,
    "roboaccord_bench/check:read": "alone, without this project, and on its user's own files",
    "roboaccord_files/bags/recover:_copy": "opens the writer of a copy",
    "roboaccord_files/bags/storages:_connect": WHOLE,
    "roboaccord_files/bags/storages:_plain": WHOLE,
    "roboaccord_files/gazebo/check:": PACKAGE,
    "roboaccord_files/gazebo/schema:_read_schema": PACKAGE,
    "roboaccord_files/gazebo/shipped:problems_of_robot": PACKAGE,
    "roboaccord_files/logs/arrays:_npz": CHECKED,
    "roboaccord_files/repair/extents:_points": CHECKED,
    "roboaccord_files/rules/source:_written": "once more, what has been read",
    "roboaccord/contract/suggestions:_table": PACKAGE,
    "roboaccord/scenario/controllers:origin_of": "the source of a module that runs",
    "roboaccord_files/rules/table:read_table": PACKAGE,
    "roboaccord_ros/gazebo/transport:": PACKAGE,
    "roboaccord_ros/graph/process:end_soon": OWN,
    "roboaccord_ros/run/domain:remove_orphans": OWN,
    "roboaccord_ros/run/processes:run_commands": OWN,
    "roboaccord_ros/run/with_parent:_nodes_of": OWN,
    "roboaccord_ros/speed:_read": OWN,
    "voxel_sphere/terrain/slices:_read_slice": CHECKED,
}
"""Functions that open files otherwise than by contract/files.py, and why they may."""


def opened(module: Path) -> Iterator[str]:
    """Yield the functions of a module that open a file to read, but not by contract/files.py."""
    text = module.read_text(encoding="utf-8")
    if not NAMES.search(text):
        return
    tree = ast.parse(text)
    nodes = [*ast.walk(tree)]
    parents = {child: node for node in nodes for child in ast.iter_child_nodes(node)}
    for node in nodes:
        if isinstance(node, ast.Attribute):
            owner = node.value.id if isinstance(node.value, ast.Name) else ""
            reads = node.attr in OPENS or (owner, node.attr) in OF_MODULES
            reads = reads and isinstance(node.ctx, ast.Load)
        else:
            reads = isinstance(node, ast.Name) and node.id in ("open", "ZipFile")
        call = parents.get(node)
        given = call.args if isinstance(call, ast.Call) and call.func is node else []
        if not reads or any(
            isinstance(each, ast.Constant) and each.value in WRITES for each in given
        ):
            continue
        above: ast.AST = node
        while above in parents and not isinstance(above, ast.FunctionDef):
            above = parents[above]
        yield getattr(above, "name", "")


def test_nothing_is_opened_but_by_a_reader_that_is_bounded() -> None:
    """Whoever opens a file by other means is named here, with the reason."""
    openers = set()
    for package in PACKAGES:
        top = ROOT / "src" / package / package
        for module in top.rglob("*.py"):
            if module.match("contract/files.py") or module.match("testing/*.py"):
                continue
            name = module.relative_to(top.parent).with_suffix("").as_posix()
            openers |= {f"{name}:{function}" for function in opened(module)}
    assert openers == {each for each in KNOWN if each.partition("/")[0] in PACKAGES}


BODY = '<body name="b"><joint name="j"/><geom size=".1"/></body>'
MJCF = {
    "hfield": f'<mujoco><asset><hfield name="h" nrow="60000" ncol="60000" size="1 1 1 1"/></asset>'
    f"<worldbody>{BODY}</worldbody></mujoco>",
    "replicate": f'<mujoco><worldbody><replicate count="100000000"><geom size=".1"/></replicate>'
    f"{BODY}</worldbody></mujoco>",
}


@pytest.mark.slow
@pytest.mark.parametrize("what", MJCF)
def test_a_model_is_compiled_in_bounded_time_and_memory(what: str, tmp_path, monkeypatch) -> None:
    """By MuJoCo, a few bytes make 10^8 bodies, or 14 GB of heights."""
    pytest.importorskip("mujoco")
    monkeypatch.setattr(formats, "SECONDS", 5)
    path = tmp_path / "a.xml"
    path.write_text(MJCF[what], encoding="utf-8")
    with pytest.raises(
        AccordError, match=r"^a.xml: reading it took more than 5 s or 4096 MB, or crash"
    ):
        formats.read_robot(path)
