"""Every package builds with colcon and with pip, and works from where it was installed."""

from __future__ import annotations

import ast
import configparser
import contextlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import xml.etree.ElementTree as ET
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
import yaml
from packaging.requirements import Requirement
from roboaccord.contract.errors import EXTRAS
from workspace import (
    PACKAGES,
    ROOT,
    SHORT_RUN,
    call,
    clean_environment,
    copy_repository,
    locked,
    python_without,
    read_json,
    succeed,
)

pytestmark = pytest.mark.thorough

# Compiling the kernels anew in each place would take most of the time.
INTERPRETED = clean_environment(NUMBA_DISABLE_JIT="1")

SOME = ["roboaccord", "roboaccord_ros", "snake"]  # of all kinds of package, built with links

LOCAL = ("--quiet", "--no-deps", "--no-index")  # of pip: nothing but what is here

DOCSTRING = re.compile(r'(#.*\n|\s)*r?"""')  # below comments, if any
LAUNCHING = ("launch/*.launch.py", "*/launch/*.py")

Shell = Callable[[str], str]

ASK_PLACES = """
import importlib, os
from roboaccord.description.resources import share
for name in NAMES:
    print(os.path.realpath(importlib.util.find_spec(name).origin))
    print(os.path.realpath(share(name)))
"""


@pytest.fixture(scope="session")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a Python with every library and none of the local packages."""
    return python_without(PACKAGES, ROOT, tmp_path_factory.mktemp("python") / "venv")


@pytest.fixture(scope="session", params=["plain", "nested with symlinks"])
def built(
    request: pytest.FixtureRequest, python: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Build every package with colcon, and return the workspace."""
    top = tmp_path_factory.mktemp(request.param) / "ws"
    copy_repository(top / "src" / "roboaccord" if request.param != "plain" else top)
    command = [python, "-m", "colcon", "build", "--event-handlers", "console_direct-"]
    if request.param != "plain":
        command += ["--symlink-install", "--packages-select", *SOME]
    succeed(call(command, top, timeout=300))
    return top


def built_packages(workspace: Path) -> list[str]:
    """Return the names of the packages that `built` asks for."""
    return PACKAGES if (workspace / "src/snake").is_dir() else SOME


@pytest.fixture
def sourced(built: Path, tmp_path: Path) -> Shell:
    """Return a shell, away from the workspace, in which its installation is sourced."""

    def run(command: str) -> str:
        script = f"set -e; . {shlex.quote(str(built / 'install/local_setup.sh'))}; {command}"
        return succeed(call(["sh", "-c", script], tmp_path, INTERPRETED))

    return run


def test_colcon_knows_the_packages(python: Path, tmp_path: Path) -> None:
    """A package.xml that is not valid would silently make a plain Python package."""
    listed = succeed(call([python, "-m", "colcon", "list"], copy_repository(tmp_path / "ws")))
    found = {line.split("\t")[0]: line.split("\t")[2] for line in listed.splitlines()}
    assert found == dict.fromkeys(PACKAGES, "(ros.ament_python)")


@pytest.mark.slow
def test_colcon_install_works(built: Path, sourced: Shell) -> None:
    """`accord` is found, lists the snake and runs it."""
    assert Path(sourced("command -v accord").strip()).is_relative_to(built / "install")
    assert "serpenoid" in sourced("accord list snake")
    result = read_json(sourced(shlex.join(["accord", *SHORT_RUN])))
    assert result["steps"] == 20
    if built_packages(built) == PACKAGES:  # for it asks every robot that is installed
        checked = read_json(sourced("accord check --json"))["files"]
        assert {"worlds/flat.sdf", "ground/model.sdf", "robot snake"} <= checked.keys()


@pytest.mark.slow
def test_colcon_install_has_its_files(built: Path, sourced: Shell, python: Path) -> None:
    """Modules and share files come from the workspace, and no package is forgotten."""
    names = built_packages(built)
    ask = ASK_PLACES.replace("NAMES", repr(names))
    places = sourced(f"{shlex.quote(str(python))} -c {shlex.quote(ask)}").splitlines()
    assert len(places) == 2 * len(names)
    for place in places:
        assert Path(place).is_relative_to(built)
    for name in names:
        prefix = built / "install" / name
        assert (prefix / "share/ament_index/resource_index/packages" / name).is_file()
        assert (prefix / "share" / name / "package.xml").is_file()
        for kind in ("urdf", "config", "scenarios", "launch"):
            shipped = {p.name for p in (ROOT / "src" / name / kind).glob("*.*")}
            assert shipped <= {p.name for p in (prefix / "share" / name / kind).glob("*.*")}


@pytest.mark.slow
def test_gazebo_finds_models_and_worlds(built: Path, sourced: Shell) -> None:
    """The environment hook does what an `export` would, once, however often it is sourced."""
    again = f". {shlex.quote(str(built / 'install/local_setup.sh'))}"
    echo = 'echo "$GZ_SIM_RESOURCE_PATH"; echo "$SDF_PATH"'
    lines = sourced(f"unset GZ_SIM_RESOURCE_PATH SDF_PATH; {again}; {again}; {echo}").splitlines()
    worlds, models = lines[0].split(":")
    assert lines[1] == models
    assert (Path(models) / "snake/model.config").is_file()
    assert (Path(worlds) / "snake.sdf").is_file()


@pytest.mark.slow
def test_ros2_run_finds_the_nodes(built: Path) -> None:
    """`ros2 run` looks in lib/PKG, so that is where node executables must be."""
    for name in built_packages(built):
        scripts = _node_scripts(name)
        for script in scripts:
            assert (built / "install" / name / "lib" / name / script).is_file()


@pytest.mark.parametrize("package", PACKAGES)
def test_node_scripts_go_to_lib(package: str) -> None:
    """A package with node executables has the setup.cfg that ament_python asks for."""
    if not _node_scripts(package):
        return
    settings = configparser.ConfigParser(interpolation=None)
    settings.read(ROOT / "src" / package / "setup.cfg")
    assert settings["develop"]["script_dir"] == f"$base/lib/{package}"
    assert settings["install"]["install_scripts"] == f"$base/lib/{package}"


@pytest.fixture(scope="session")
def wheels(python: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Build plain wheels of all packages, by path in one command; the sources are gone then."""
    folder = tmp_path_factory.mktemp("wheels")
    copy = copy_repository(folder / "repository")
    build = [python, "-m", "pip", "wheel", *LOCAL, "--no-build-isolation", "--use-pep517"]
    paths = [copy / "src" / name for name in PACKAGES]
    succeed(call([*build, "-w", folder / "made", *paths], folder, timeout=300))
    shutil.rmtree(copy)
    return sorted((folder / "made").iterdir())


@pytest.mark.slow
def test_wheels_work(wheels: list[Path], tmp_path: Path) -> None:
    """Installed, they have a command, and their modules and data are those that were installed."""
    python = python_without(PACKAGES, ROOT, tmp_path / "venv")
    install = [python, "-m", "pip", "install", *LOCAL, "--ignore-installed", *wheels]
    succeed(call(install, tmp_path, timeout=300))
    command = python.parent / "accord"
    assert "serpenoid" in succeed(call([command, "list", "snake"], tmp_path))
    result = read_json(succeed(call([command, *SHORT_RUN], tmp_path, INTERPRETED)))
    assert result["steps"] == 20
    ask = ASK_PLACES.replace("NAMES", repr(PACKAGES))
    for place in succeed(call([python, "-c", ask], tmp_path)).splitlines():
        assert Path(place).is_relative_to(tmp_path / "venv")


@pytest.mark.slow
def test_every_kind_of_installation_works(python: Path, wheels: list[Path], tmp_path: Path) -> None:
    """With --prefix (as --user), --target, and as wheels on the path, as they are and unpacked."""
    site = sysconfig.get_path("purelib", vars={"base": "BASE"}).partition("BASE/")[2]
    paths = {"wheels": os.pathsep.join(map(str, wheels)), "unpacked": str(tmp_path / "unpacked")}
    for wheel in wheels:
        ZipFile(wheel).extractall(tmp_path / "unpacked")
    for kind, inside in {"prefix": site, "target": ""}.items():
        words = [f"--{kind}", tmp_path / kind, "--ignore-installed", *wheels]
        succeed(call([python, "-m", "pip", "install", *LOCAL, *words], tmp_path, timeout=300))
        paths[kind] = str(tmp_path / kind / inside)
    hashes = set()
    for kind, path in paths.items():
        environment = {**INTERPRETED, "PYTHONPATH": path, "TMPDIR": str(tmp_path)}
        run = [python, "-m", "roboaccord.cli.main", *SHORT_RUN, "--out", f"run_{kind}"]
        hashes.add(read_json(succeed(call(run, tmp_path, environment)))["trajectory_sha256"])
    assert len(hashes) == 1


@pytest.mark.parametrize("package", PACKAGES)
def test_versions_agree(package: str) -> None:
    """package.xml, setup.cfg and CITATION.cff agree."""
    manifest = ET.parse(ROOT / "src" / package / "package.xml").getroot()
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert manifest.findtext("version") == _setup_arguments(package)["version"]
    assert manifest.findtext("version") == citation["version"]
    assert [manifest.findtext("maintainer")] == [author["name"] for author in citation["authors"]]
    assert manifest.findtext("name") == package
    for name in ("description", "license", "maintainer"):
        given = _setup_arguments(package)["author" if name == "maintainer" else name]
        assert manifest.findtext(name) == given, name
    assert manifest.findtext("license") == "Apache-2.0"
    assert manifest.findtext("export/build_type") == "ament_python"


@pytest.mark.parametrize("package", PACKAGES)
def test_manifests_name_what_the_python_of_ros_imports(package: str) -> None:
    """Launch files need nothing but what rosdep gives; a node's other imports are wheels."""
    folder = ROOT / "src" / package
    manifest = ET.parse(folder / "package.xml").getroot()
    named = {str(element.text) for element in manifest.findall("exec_depend")}
    for path in (path for pattern in LAUNCHING for path in folder.glob(pattern)):
        assert _imported(path) <= named, path
    if package == "roboaccord_ros":
        wheels = {
            re.split(r"\W", name)[0] for name in _setup_arguments(package)["install_requires"]
        }
        for path in folder.glob(f"{package}/**/*.py"):
            assert _imported(path) <= named | wheels, path


def test_colcon_leaves_slow_tests_out() -> None:
    """colcon.meta names every package, and colcon runs tests where setup.cfg asks for pytest."""
    named = json.loads((ROOT / "colcon.meta").read_text(encoding="utf-8"))["names"]
    assert {*PACKAGES} <= named.keys()
    assert all(each == {"pytest-args": ["-m", "not slow"]} for each in named.values())
    for package in PACKAGES:
        asked = _setup_arguments(package)["extras_require"]["test"]
        assert "pytest" in {re.split("[ <=>!]", each)[0] for each in asked}  # as colcon does


def test_every_module_has_a_docstring() -> None:
    """Also tests, launch files and examples."""
    bare = [
        str(path)
        for path in _tracked()
        if path.suffix == ".py" and not DOCSTRING.match((ROOT / path).read_text("utf-8"))
    ]
    assert not bare


def test_no_machine_in_the_files() -> None:
    """No path of one machine and no registry host is in a tracked file."""
    hosts = ["pypi", "pythonhosted", "debian", "ubuntu", "npmjs", "registry.npm"]
    places = ["work", r"tmp/(?!accord|\.X11-unix)", "root", "home", "opt/(?!ros)", "Users"]
    host = rf"https?://[\w.-]*({'|'.join(hosts)})[\w.-]*\.(org|com|net)"
    folder = rf"(?<![\w.$}}~/<-])/({'|'.join(places)})\b"
    lines = []
    for path in _tracked():
        if path == Path(__file__).resolve().relative_to(ROOT):
            continue
        text = (ROOT / path).read_bytes()
        if b"\0" in text:
            continue
        for number, line in enumerate(text.decode("utf-8", "replace").splitlines(), 1):
            if re.search(f"{host}|{folder}", line):
                lines.append(f"{path}:{number}: {line.strip()[:100]}")
    assert not lines


def test_shell_scripts_parse() -> None:
    """`bash -n` accepts every shell script."""
    scripts = [
        path
        for path in _tracked()
        if re.match(rb"#!.*\b(ba)?sh\b", (ROOT / path).read_bytes()[:80])
        or path.suffix in (".sh", ".bash")
    ]
    assert Path(".ci/run") in scripts
    for path in scripts:
        succeed(call(["bash", "-n", path], ROOT))


def test_locks_are_exact() -> None:
    """Every entry of a lock pins one version with its hashes, and names no address."""
    entry = r"[a-z0-9.-]+==[\w.+]+( ; [^#@\n]+)?( \\\n    --hash=sha256:[0-9a-f]{64})+\n"
    for lock in sorted((ROOT / "requirements").glob("*.txt")):
        text = lock.read_text(encoding="utf-8")
        assert text == "".join(match[0] for match in re.finditer(entry, text)), lock.name


def test_the_locks_agree() -> None:
    """`make core` and `make demo` install the versions that `make test` tests."""
    assert {*locked("core")} <= {*locked("demo")} <= {*locked("dev")}


@pytest.mark.parametrize("lock", ["core", "demo", "dev", "ros"])
def test_the_bounds_hold_for_the_locks(lock: str) -> None:
    """With all extras; ROS on Ubuntu has NumPy 1.26."""
    pins = [(pin.name, next(iter(pin.specifier)).version) for pin in map(Requirement, locked(lock))]
    assert pins
    for package in PACKAGES:
        for asked in _requirements(package):
            for name, version in pins:
                assert name != asked.name or asked.specifier.contains(version), asked


def test_the_extras_are_those_that_are_told() -> None:
    """A message names the extras of setup.cfg; robots, nodes and engines get all but `gym`."""
    asked = _setup_arguments("roboaccord")["extras_require"]
    for extra, modules in EXTRAS.items():
        assert {*map(Requirement, modules.values())} == {*map(Requirement, asked[extra])}, extra
    for package in PACKAGES:
        if package not in ("roboaccord", "roboaccord_files", "roboaccord_view"):
            core = [each for each in _requirements(package) if each.name == "roboaccord"]
            assert [each.extras for each in core] == [{*EXTRAS} - {"gym"}], package


def _requirements(package: str) -> list[Requirement]:
    """Return what a package requires, with all extras."""
    given = _setup_arguments(package)
    lines = [*given["install_requires"], *chain(*given["extras_require"].values())]
    return [Requirement(line) for line in lines]


def _imported(path: Path) -> set[str]:
    """Return what a module imports of others, but for Python's own and ours."""
    tree = ast.parse(path.read_bytes())
    words = [
        each
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for each in (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [a.name for a in node.names]
        )
    ]
    names = {word.partition(".")[0] for word in words} - sys.stdlib_module_names - {*PACKAGES}
    return {"python3-yaml" if name == "yaml" else name for name in names}


def _tracked() -> list[Path]:
    """Return the files that git knows of, links left out."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git work tree")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    paths = [Path(name) for name in listed.stdout.split("\0") if name]
    return [path for path in paths if (ROOT / path).is_file() and not (ROOT / path).is_symlink()]


def _setup_arguments(package: str) -> dict[str, Any]:
    """Return what setuptools knows of a package, by its setup.py and setup.cfg."""
    from distutils.core import run_setup

    import setuptools  # noqa: F401 - which has distutils

    with contextlib.chdir(ROOT / "src" / package):
        distribution = run_setup("setup.py", stop_after="config")
    names = ("install_requires", "extras_require", "entry_points")
    metadata = ("name", "version", "description", "license", "author")
    return {
        **{name: getattr(distribution, name) or {} for name in names},
        **{name: getattr(distribution.metadata, name) for name in metadata},
    }


def _node_scripts(package: str) -> list[str]:
    """Return the executables of a package, but for the command of the core."""
    entries = _setup_arguments(package).get("entry_points", {}).get("console_scripts", [])
    names = [entry.partition("=")[0].strip() for entry in entries]
    return [name for name in names if name != "accord"]


def test_every_dependency_is_on_its_page() -> None:
    """docs/dependencies.md has what each library of setup.cfg is there for."""
    page = (ROOT / "docs/dependencies.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| ")]
    named = {word for row in rows for word in re.findall(r"[\w-]+", row)}
    for package in PACKAGES:
        given = _setup_arguments(package)
        wanted = [given["install_requires"], *given["extras_require"].values()]
        libraries = {re.split(r"[\[<>=~; ]", each)[0] for some in wanted for each in some}
        assert {each for each in libraries if not each.startswith(("ros-", "roboaccord"))} <= named


def test_the_changelog_has_the_release() -> None:
    version = ET.parse(ROOT / "src/roboaccord/package.xml").getroot().findtext("version")
    release = re.search(r"^## \[(.+?)\] - (.+)$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert release is not None
    assert release.groups() == (version, str(citation["date-released"]))
