"""Cases of messages that are none, on every topic that a node hears, during a run over ROS."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from cases import Case
from mutations import mutated
from roboaccord.run.runner import RunRequest, run_direct
from roboaccord.scenario.setups import load_setup
from rosbags.rosbag2 import Reader

CHANGES = ("duration=0.1",)
MANY = 8  # messages of a topic, so that each order of two occurs
FIXED = ("Bool", "Clock", "Float64", "Twist", "Wrench")  # in size: no longer one can be sent


def messages(rng: Random, seeds: Path) -> Case:
    """A run whose nodes hear a stranger."""
    words = "run snake serpenoid --transport ros".split()
    return Case("node messages", words, accepted=True, heard=f"{rng.random()}")


@cache
def digest() -> str:
    """Return the hash of the run."""
    setup = load_setup("snake", "serpenoid", CHANGES)
    with TemporaryDirectory() as folder:
        asked = RunRequest(setup=setup, engine="reference", bag=Path(folder) / "bag")
        return run_direct(asked).trajectory.sha256()


def run_among_strangers(seed: str, seeds: Path) -> int:
    """Run all nodes in this process while a stranger sends; return 0 if the run is as it should be.

    Raises:
        RuntimeError: if the motion, or what is recorded of it, is another one.
        AccordError: if the run ends early.
    """
    from conftest import Graph
    from rclpy.context import Context
    from roboaccord.bag.reader import read_run
    from roboaccord_ros.graph.spinning import session
    from roboaccord_ros.nodes import recorder
    from roboaccord_ros.nodes.crosscheck import CrosscheckShell
    from roboaccord_ros.run.domain import private_domain
    from test_strangers import make_stranger

    recorder.CROSSCHECK_PATIENCE = 0.2  # s; the stranger seems to check, too
    setup = load_setup("snake", "serpenoid", CHANGES)
    good = recorded(seeds)

    def drawn(topic: str, kind: str) -> Iterator[Any]:
        rng = Random(f"{seed}{topic}")  # topics are found in any order
        return hostile(rng, topic, kind, good.get(topic, []), setup.joints)

    context = Context()
    with private_domain() as domain, session(context, domain_id=domain) as nodes:
        graph = Graph(context, nodes)
        found = make_stranger(graph, drawn)
        shell = graph.simulator(setup, peers=("controller", "recorder", "crosscheck"))
        graph.controller(setup)
        for _ in range(2):
            graph.run.expect()
        bag = Path("bag")
        written = recorder.RecorderShell(graph.node("recorder"), "snake", bag, graph.run)
        check = CrosscheckShell(graph.node("crosscheck"), "snake", 0.0, graph.run, reference=True)
        graph.spin()
        written.close()
    of_run = shell.result["trajectory_sha256"], read_run(bag).trajectory.sha256()
    if {*of_run} != {digest()} or not check.verdict.ok or "/snake/joint_states" not in found:
        raise RuntimeError(f"hashes {of_run}, verdict {check.verdict}, {sorted(found)}")
    return 0


@cache
def recorded(seeds: Path) -> dict[str, list[bytes]]:
    """Return messages of a run, by topic."""
    found: dict[str, list[bytes]] = {}
    with Reader(seeds / "run" / "bag") as reader:
        for connection, _, data in reader.messages():
            found.setdefault(connection.topic, []).append(bytes(data))
    return found


def hostile(
    rng: Random, topic: str, kind: str, good: list[bytes], joints: list[str]
) -> Iterator[Any]:
    """Yield messages of a topic that cannot be read: who sends others takes part in the run."""
    from rclpy.serialization import serialize_message
    from roboaccord_ros.graph.names import message_class
    from test_strangers import hostile as typed

    whole = [*good, serialize_message(message_class(kind)())]
    for message in typed(kind):
        if rng.random() < 0.3:
            yield message
    for _ in range(MANY):
        data = rng.randbytes(rng.choice((4, 5, 12, 60, 1000, 100_000)))
        if rng.random() < 0.8:
            data = mutated(rng.choice(whole), rng, text=False)
        if kind.rpartition("/")[2] in FIXED:
            data = data[: len(whole[-1])]
        if len(data) >= 4 and not is_read(topic, kind, data, joints):
            yield data


def is_read(topic: str, kind: str, data: bytes, joints: list[str]) -> bool:
    """Return whether data are a message of a topic."""
    from rclpy.serialization import deserialize_message
    from roboaccord_ros.graph.names import message_class
    from roboaccord_ros.graph.reading import decoders, read_facts

    name = topic.rpartition("/")[2]
    decode = {**decoders(joints), "scenario": read_facts}.get(name)
    try:
        if decode:
            decode(data)
        else:
            deserialize_message(data, message_class(kind))
    except Exception:  # of any kind: whoever reads it has to take it
        return False
    return name != "result"
