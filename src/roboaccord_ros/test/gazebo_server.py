"""A real Gazebo for tests: a server of its own, and the nodes of a launch that run one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import which
from typing import Any

import pytest
import yaml
from roboaccord.bag.reader import BagRun, read_run
from roboaccord.gazebo.form import expand_for_gazebo
from roboaccord.scenario.scenario import Scenario
from roboaccord.scenario.setup import Setup

pytest.importorskip("rclpy", reason="rclpy is not installed")
from roboaccord_ros.gazebo.transport import gazebo_module, installed_release, message_class

if installed_release().lacking():
    pytest.skip("Gazebo is not installed, or not for Python", allow_module_level=True)
if which("gz") is None:
    pytest.skip("the command gz is not installed (Gazebo Sim)", allow_module_level=True)

from roboaccord_ros.run.domain import private_domain
from roboaccord_ros.run.processes import GOOD

ROOT = Path(__file__).resolve().parents[3]
START = 60.0  # s


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep worlds and terrains in a folder of each test, where a module imports this."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def nanoseconds(msg: Any) -> int:
    """Return the stamp of a message."""
    return int(msg.header.stamp.sec * 1_000_000_000 + msg.header.stamp.nsec)


def wait_for(condition: Callable[[], Any], seconds: float = 60.0) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "Gazebo is silent"
        time.sleep(0.01)


@contextmanager
def gazebo(world: Path, models: Sequence[Path] = (ROOT / "models",)) -> Iterator[Any]:
    """Run a server with a paused world, in a partition of its own; give a transport node."""
    # The node and the command line tool both read it from the environment.
    os.environ["GZ_PARTITION"] = uuid.uuid4().hex
    os.environ["GZ_SIM_RESOURCE_PATH"] = os.pathsep.join(str(folder) for folder in models)
    server = subprocess.Popen(["gz", "sim", "-s", "-v", "1", str(world)], start_new_session=True)
    try:
        node = gazebo_module("transport").Node()
        end = time.monotonic() + START
        while not any(name.endswith("/control") for name in node.service_list()):
            assert server.poll() is None, "the server ended"
            assert time.monotonic() < end, "the server does not answer"
            time.sleep(0.1)
        yield node
    finally:
        os.killpg(server.pid, 15)
        server.wait(60)


def step(world: str, count: int) -> None:
    """Step a paused world."""
    # By the command line tool: the Python bindings hold the interpreter while they wait for an
    # answer, and a process that has subscriptions can then wait in vain.
    command = ["gz", "service", "-s", f"/world/{world}/control", "--timeout", "60000"]
    command += ["--reqtype", "gz.msgs.WorldControl", "--reptype", "gz.msgs.Boolean"]
    subprocess.run([*command, "--req", f"pause: true, multi_step: {count}"], check=True)


def put_in(node: Any, world: str, setup: Setup, contacts: str = "") -> None:
    """Put a robot where it starts; the node must not have subscriptions yet."""
    factory, boolean = message_class("EntityFactory"), message_class("Boolean")
    start, urdf = setup.initial, expand_for_gazebo(setup, contacts)
    pose = {
        "position": dict(zip("xyz", start.position.tolist(), strict=True)),
        "orientation": dict(zip("xyzw", start.orientation.tolist(), strict=True)),
    }
    ask = factory(sdf=urdf, name=setup.robot.name, pose=pose)
    done, answer = node.request(f"/world/{world}/create", ask, factory, boolean, 60000)
    assert done and answer.data


def crawl(scenario: Scenario, folder: Path, lockstep: str = "true", contacts: str = "") -> BagRun:
    """Let a robot run in its world with the nodes of a launch, each a process; return its bag."""
    folder.mkdir(exist_ok=True)
    file, bag = folder / "scenario.yaml", folder / "bag"
    data = json.loads(json.dumps(scenario.data()))
    if contacts:
        data["engine_options"] = {"gz": {"contacts": contacts}}
    file.write_text(yaml.safe_dump(data), encoding="utf-8")
    run = ["-p", f"robot:={scenario.robot}", "-p", f"scenario:={file}"]
    run += ["-p", f"lockstep:={lockstep}"]
    parameters = {
        "nodes.recorder": ["-p", f"robot:={scenario.robot}", "-p", f"bag:={bag}"],
        "nodes.controller": [*run, "-p", "peers:=[recorder, simulator]"],
        "nodes.simulator": [*run, "-p", "engine:=gz", "-p", "peers:=[recorder, controller]"],
    }
    with private_domain():
        processes = [
            subprocess.Popen(
                [sys.executable, "-m", f"roboaccord_ros.{name}", "--ros-args", *given],
                stdout=subprocess.DEVNULL,
            )
            for name, given in parameters.items()
        ]
        try:
            end = time.monotonic() + 600.0
            codes = [None]
            while None in codes:
                time.sleep(0.05)
                codes = [process.poll() for process in processes]
                assert {*codes} <= {None, *GOOD}, f"status of {', '.join(parameters)}: {codes}"
                assert time.monotonic() < end, "the nodes do not end"
        finally:
            for process in processes:
                process.kill()
    return read_run(bag)
