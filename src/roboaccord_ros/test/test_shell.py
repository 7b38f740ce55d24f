"""How the process of a node ends, and what keeps two launches apart."""

from __future__ import annotations

import os
import signal

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from rclpy.context import Context
from rclpy.node import Node
from roboaccord.contract.errors import AccordError
from roboaccord_ros.graph.process import STATUS_ERROR
from roboaccord_ros.graph.shell import Shell, _run_node
from roboaccord_ros.graph.spinning import Run, ends_between_callbacks, session
from roboaccord_ros.run.claim import claim_names
from roboaccord_ros.run.domain import DOMAIN, private_domain

ENDING = (signal.SIGINT, signal.SIGTERM)


@pytest.fixture
def received():
    """Return the signals to end that this process gets, which do not end it."""
    before, received = {number: signal.getsignal(number) for number in ENDING}, []
    for number in ENDING:
        signal.signal(number, lambda number, _: received.append(number))
    yield received
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", ENDING)
def test_a_signal_ends_the_spinning_and_acts_after_it(received, number):
    run = Run()
    with ends_between_callbacks(run):
        os.kill(os.getpid(), number)
        assert run.future.done()
        assert not received
    assert received == [number]


def test_a_second_signal_acts_at_once(received):
    with ends_between_callbacks(Run()):
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGTERM)
        assert received == [signal.SIGTERM]


def test_no_signal_cuts_the_end_of_a_node_that_refuses(received, capsys):
    class Refusing(Shell):
        name = "refusing"

        @classmethod
        def build(cls, node, run):  # noqa: ARG003
            raise AccordError("no such robot")

    with private_domain():
        assert _run_node(Refusing, []) == STATUS_ERROR
    assert capsys.readouterr().err == "error: no such robot\n"
    for number in ENDING:
        os.kill(os.getpid(), number)
    assert not received


def test_arguments_of_a_xacro_file_rename_nothing_in_ros(monkeypatch):
    """To rclpy `NAME:=VALUE` on the command line of a process is a rule."""
    monkeypatch.setattr("sys.argv", ["accord", "run", "ur.urdf.xacro", "__node:=ur"])
    context = Context()
    with private_domain() as domain, session(context, domain_id=domain):
        assert Node("simulator", context=context).get_name() == "simulator"


def test_two_launches_have_the_same_names_only_in_different_domains(monkeypatch):
    """A domain that is not set, or empty, is 0, as it is for ROS."""
    name, kept = f"claim_{os.getpid()}", []
    for domain in ("201", "", "202"):
        monkeypatch.setenv(DOMAIN, domain)
        kept.append(claim_names(name))
    for other in ("202", "0", None):
        if other is None:
            monkeypatch.delenv(DOMAIN)
        else:
            monkeypatch.setenv(DOMAIN, other)
        with pytest.raises(RuntimeError, match=f"same names in ROS domain {other or 0};"):
            claim_names(f"/{name}/")
    for claim in kept:
        claim.close()
    claim_names(name).close()
