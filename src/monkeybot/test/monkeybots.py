"""Robots that the MonkeyBot's tests share, states as `lagrangian` takes them, and commands."""

import json

import numpy as np
import pytest
from hypothesis import strategies as st
from monkeybot.model.parameters import MonkeyBotParameters
from roboaccord.cli.main import run
from roboaccord.description.parameters import load_parameters

REPORT = load_parameters(MonkeyBotParameters, "monkeybot")
# Links that have nothing in common, so that no exchange of theirs goes unseen.
UNLIKE = REPORT.replace(
    mass_a=2.1, mass_b=3.4, inertia_a=0.04, inertia_b=0.11, length_a=0.5, length_b=0.83,
    centre_a=0.2, centre_b=0.61, gravity=3.7,
)  # fmt: skip
ROUGH = UNLIKE.replace(
    viscous_hand=0.05, viscous_elbow=0.03, constant_hand=0.2, constant_elbow=0.1,
    friction_speed=0.5,
)  # fmt: skip

angles = st.floats(-3.0, 3.0)
rates = st.floats(-10.0, 10.0)
states = st.tuples(angles, angles, rates, rates, angles, angles, rates, rates).map(np.array)


def oracle(u):
    """Return (x, y, th1, th2) and its rates."""
    return np.array([u[4], u[5], u[0], u[1]]), np.array([u[6], u[7], u[2], u[3]])


@pytest.fixture(scope="session")
def accord_here():
    """Return the command line, to be run in this process on a list of words."""
    return run


@pytest.fixture
def complaint(accord_here, capsys, monkeypatch, tmp_path):
    """Return a function that runs a wrong command and returns the one line that it prints.

    In this process: some forty new ones would take two minutes. What is right is run as by a user.
    """

    def of(words):
        monkeypatch.chdir(tmp_path)
        assert accord_here(words.split()) == 2
        message = capsys.readouterr()
        assert message.out == ""
        (line,) = message.err.splitlines()
        assert line.startswith("accord: ")
        return line

    return of


@pytest.fixture
def figures(accord_here, capsys, monkeypatch, tmp_path):
    """Return a function that runs a command and returns the figures that it prints as JSON."""

    def of(words):
        monkeypatch.chdir(tmp_path)
        assert accord_here(f"monkeybot {words} --json".split()) == 0
        found = json.loads(capsys.readouterr().out)
        assert found.pop("options")
        return found

    return of
