"""A bag, a message and a scenario's file are data: no path that they name is opened."""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from roboaccord.bag.reader import read_run
from roboaccord.cli.main import run as accord
from roboaccord.contract.errors import AccordError
from roboaccord.description.meshes import ships
from roboaccord.door import run
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.paths import PATHS, check_paths, path_changes, paths_of
from roboaccord.scenario.setups import load_setup, recorded_setup
from workspace import PACKAGES, ROOT

XACRO = """<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
<link name="trunk"><visual><geometry><mesh filename="trunk.obj"/></geometry></visual></link>
<link name="rod"><visual><geometry><box size="0.5 0.1 0.1"/></geometry></visual>
<inertial><origin xyz="0.5 0 0"/><mass value="${2.0 * 1}"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="hinge" type="revolute"><parent link="trunk"/><child link="rod"/><axis xyz="0 1 0"/>
<limit lower="0.5" upper="2" effort="10" velocity="5"/></joint></robot>
"""
PROGRAM = (
    "2.0 if (lambda: [c for c in ().__class__.__base__.__subclasses__() "
    "if c.__name__ == 'Popen'][0](['touch', '{}']))() else 1.0"
)
"""What a xacro can do where it is expanded without more ado."""
TRUNK = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
COMMANDS = (
    "crosscheck BAG --json", "crosscheck BAG released --json",
    "crosscheck BAG --set parameters.damping=0.5 --json", "compare BAG BAG --json",
    "plot BAG --list --json", "plot BAG q/hinge energy/total --out made.png",
    "export BAG --csv made.csv", "recover BAG",
    "view BAG BAG --gif made.gif --fps 2 --size 160x90",
)  # fmt: skip
"""Those that take a bag of any robot."""
_opened: list[str] | None = None


def _hear(event: str, arguments: tuple[object, ...]) -> None:
    if _opened is not None and event in ("open", "os.listdir", "os.scandir", "subprocess.Popen"):
        _opened.append(str(arguments[1] if event == "subprocess.Popen" else arguments[0]))


sys.addaudithook(_hear)


@contextmanager
def opened() -> Iterator[list[str]]:
    """Hear what this process opens, and which processes it starts: a xacro is expanded by one."""
    global _opened
    _opened = found = list[str]()
    try:
        yield found
    finally:
        _opened = None


def made(folder: Path) -> tuple[Path, Path]:
    """Record a run of a robot's file; return the bag, and the file, in a folder of its own."""
    file = folder / "robot" / "arm.urdf.xacro"
    file.parent.mkdir()
    file.write_text(XACRO, encoding="utf-8")
    (file.parent / "trunk.obj").write_text(TRUNK, encoding="utf-8")
    (file.parent / "package.xml").write_text("<package><name>own</name></package>", "utf-8")
    return run(file, settings={"duration": 0.05}, out=folder / "run").request.bag, file


def printed(words: str, bag: Path, capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    """Return what a command prints on a bag, which ends well."""
    capsys.readouterr()
    assert accord([str(bag) if word == "BAG" else word for word in words.split()]) == 0
    out, err = capsys.readouterr()
    return out, err


def test_no_command_opens_what_a_bag_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """None looks at the file of the robot, nor beside it; meshes that are not drawn are told."""
    monkeypatch.chdir(tmp_path)
    bag, file = made(tmp_path)
    file.write_text(XACRO.replace("2.0 * 1", PROGRAM.format(tmp_path / "ran")), encoding="utf-8")
    with opened() as heard:
        told = {words: printed(words, bag, capsys) for words in COMMANDS}
    assert not [each for each in heard if str(file.parent) in each]
    assert not (tmp_path / "ran").exists()
    for words, (out, err) in told.items():
        assert ("not drawn: 1 meshes" in err) == ("view" in words), words
        assert "crosscheck" not in words or json.loads(out)["outcome"] == "within", words
    found = read_run(bag)  # which a repetition compares
    assert found.scenario["robot"] == found.setup().scenario.robot == str(file)


@pytest.mark.slow
def test_the_file_on_the_command_line_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is heard above is heard of a file that is named: its meshes are drawn again."""
    monkeypatch.chdir(tmp_path)
    bag, file = made(tmp_path)
    with opened() as heard:
        err = printed(f"view BAG --robot {file} --gif made.gif --fps 2 --size 160x90", bag, capsys)[
            1
        ]
    assert "not drawn" not in err
    assert {str(file), str(file.parent / "trunk.obj")} <= {*heard}


def test_a_robot_on_the_command_line_replaces_that_of_a_bag(tmp_path: Path) -> None:
    """Whatever blanks are about its key."""
    _, file = made(tmp_path)
    data, other = load_setup(str(file)).scenario.data(), tmp_path / "robot" / "other.urdf.xacro"
    other.write_text(XACRO.replace("arm", "other"), encoding="utf-8")
    for key in ("robot", "robot ", " robot"):
        again = recorded_setup(data, "arm", "<robot name='none'/>", [f"{key}={other}"])
        assert again.robot.name == "other"


def test_a_setup_of_a_bag_is_that_of_its_file(tmp_path: Path) -> None:
    """Description, joints and limits are those of the run, and a base may be tied or not."""
    _, file = made(tmp_path)
    for base in ("fixed", "planar", "free"):
        setup = load_setup(str(file), base=base)
        again = recorded_setup(setup.scenario.data(), setup.robot.name, setup.urdf())
        assert (again.scenario, again.joints) == (setup.scenario, setup.joints)
        assert again.robot.name == setup.robot.name and again.urdf() == setup.urdf()


HOSTILE: Mapping[str, Any] = {
    "robot": {"robot": "evil/arm.urdf.xacro"},
    "controller.file": {"controller": {"name": "follow", "file": "evil/path.csv"}},
    "controller.identified": {"controller": {"name": "pd", "identified": "evil/known.json"}},
    "terrain.folder": {"terrain": {"folder": "evil"}},
    "terrain.hulls.rock.file": {"terrain": {"hulls": {"rock": {"file": "evil/rock.obj"}}}},
    "packages.own": {"packages": {"own": "evil"}},
    "world": {"world": "evil.sdf"},
}


@pytest.mark.parametrize("key", HOSTILE)
def test_a_message_names_nothing(key: str) -> None:
    """What a run states that this process was not started with is refused, and not looked at."""
    with opened() as heard, pytest.raises(AccordError, match=f"{key}: evil.* is not read"):
        recorded_setup({"robot": "snake", **HOSTILE[key]}, "arm")
    assert not [each for each in heard if "evil" in each]


@pytest.mark.parametrize("key", [key for key in HOSTILE if key != "robot"])
def test_a_scenario_file_names_nothing(key: str, tmp_path: Path) -> None:
    """A path in a scenario's file is read where the command line has it, too."""
    file = tmp_path / "mine.yaml"
    file.write_text(json.dumps({"robot": "snake", **HOSTILE[key]}), encoding="utf-8")
    with opened() as heard, pytest.raises(AccordError, match=f"{key}: .*--set {key}=evil"):
        load_scenario("snake", "snake", str(file))
    assert not [each for each in heard if "evil" in each]
    load_scenario("snake", "snake", str(file), path_changes(HOSTILE[key]))
    section, _, rest = key.partition(".")
    if rest:
        whole = json.dumps(HOSTILE[key][section])
        load_scenario("snake", "snake", str(file), [f"{section}={whole}"])


def test_nobody_imports_the_controller_that_a_bag_states(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its name and its hash are words; a scenario's file cannot name one."""
    monkeypatch.chdir(tmp_path)
    source = (
        "import roboaccord as ra\n"
        "class Own:\n"
        "    def __init__(self, setup): self.zero = 0.0 * setup.initial.q\n"
        "    def reset(self, seed): pass\n"
        "    def update(self, state, target): return ra.Command(self.zero)\n"
    )
    Path("bag_own.py").write_text(source, encoding="utf-8")
    bag = run("snake", "serpenoid", duration=0.02, controller="bag_own:Own", out="a").request.bag
    Path("bag_own.py").write_text("raise RuntimeError('imported')\n", encoding="utf-8")
    del sys.modules["bag_own"]
    for words in ("crosscheck BAG --json", "compare BAG BAG --json", "plot BAG --list --json"):
        printed(words, bag, capsys)
    assert read_run(bag).controller.startswith("bag_own:Own sha256:")
    for name in ("bag_own:Own", "../bag_own:Own"):
        data = {"robot": "snake", "controller": {"name": name}}
        with pytest.raises(AccordError, match="unknown controller"):
            run(recorded_setup(data, "snake"), out="b")
        Path("own.yaml").write_text(json.dumps(data), encoding="utf-8")
        with pytest.raises(AccordError, match="unknown controller"):
            run("snake", "own.yaml", out="c")
    assert "bag_own" not in sys.modules


@settings(max_examples=30, deadline=None)
@given(
    st.recursive(
        st.dictionaries(st.sampled_from(["a", "b"]), st.text(max_size=3), max_size=2),
        lambda inner: st.dictionaries(st.sampled_from(["a", "c"]), inner, max_size=2),
        max_leaves=6,
    ),
    st.lists(st.sampled_from(["a", "c", "rock"]), min_size=1, max_size=4),
    st.sampled_from(PATHS),
)
def test_a_path_is_found_however_deep(data: Any, place: list[str], name: str) -> None:
    """The only path in any data is refused, but by a change of it, or of what it is in."""
    inner = data = {"terrain": dict(data)}
    for part in ["terrain", *place]:
        if not isinstance(inner.get(part), dict):
            inner[part] = {}
        inner = inner[part]
    inner[name] = "evil/one"
    key = ".".join(["terrain", *place, name])
    assert paths_of(data) == {key: "evil/one"}
    with pytest.raises(AccordError, match="evil/one is not read"):
        check_paths(data, ["terrain.other=1", f"{key}s=1"], "roboaccord")
    for change in (f"{key}=evil/one", f"terrain.{place[0]}={{}}", " terrain ={}"):
        check_paths(data, [change], "roboaccord")


@pytest.mark.parametrize(
    ("name", "of_package"),
    [
        ("package://packbot/meshes/a.obj", True),
        (f"file://{sys.prefix}/share/own/a.obj", True), (f"{sys.prefix}/share/own/a.obj", True),
        ("package://packbot/../../etc/a.obj", False), ("package://packbot//etc/a.obj", False),
        (f"{sys.prefix}/share/../../etc/a.obj", False), ("file:///home/somebody/a.obj", False),
        ("a.obj", False), ("", False),
    ],
)  # fmt: skip
def test_meshes_of_packages_alone_are_read(name: str, of_package: bool) -> None:
    """A name leads into the share folder of a package, and not out of it again."""
    assert ships(name) is of_package


def test_no_module_makes_a_setup_of_what_a_bag_or_a_message_states() -> None:
    """All do so by `recorded_setup`: the data of a run are handed to nothing else."""
    calls = []
    for name in PACKAGES:
        for path in (ROOT / "src" / name / name).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            if "make_scenario(" not in text and "Scenario(**" not in text:
                continue
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") in (
                    "make_scenario", "Scenario", "load_scenario",
                ):  # fmt: skip
                    given_to = ast.unparse(node)
                    if "run.scenario" in given_to or "facts" in given_to:
                        calls.append(f"{path.relative_to(ROOT)}:{node.lineno}: {given_to}")
    # A recorded run that is repeated: its data are compared, and no setup is made.
    assert [each.partition(":")[0] for each in calls] == ["src/roboaccord/roboaccord/run/inputs.py"]
