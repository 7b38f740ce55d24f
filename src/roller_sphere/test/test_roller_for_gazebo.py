"""A scenario's friction and pressing force in the description for Gazebo."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from roboaccord.gazebo.form import expand_for_gazebo
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.setup import Setup

LAWS = {
    "viscous, coefficient: 8": (1000.0, 1 / 8),
    "viscous": (1000.0, 1 / 20),  # the laws' own defaults
    "viscous, coefficient: 0": (0.0, 0.0),
    "coulomb, mu: 0.4, slip_speed: 0.02": (0.4, 0.02 / (0.4 * 15)),
    "coulomb": (0.5, 0.05 / (0.5 * 15)),
    "contact, mu: 0.3": (0.3, 0.0),
    "contact": (0.5, 0.0),
    "none": (0.0, 0.0),
}


def setup(scenario, *changes):
    return Setup.of(load_scenario("roller_sphere", "roller_sphere", scenario, changes))


def surface(root, link):
    return root.find(f"gazebo[@reference='{link}']/collision/surface/friction/ode")


@pytest.mark.parametrize("law", LAWS)
def test_the_law_becomes_a_bound_and_a_slip_for_a_force(law):
    mu, slip = LAWS[law]
    given = setup("headings", f"friction={{law: {law}}}")
    root = ET.fromstring(expand_for_gazebo(given))
    for i in (1, 2):
        found = surface(root, f"roller_{i}_link")
        values = [float(found.findtext(name)) for name in ("mu", "mu2", "slip1", "slip2")]
        assert values == pytest.approx([mu, mu, slip, slip], rel=1e-12)
        along = np.array(found.findtext("fdir1").split(), dtype=float)
        assert along == pytest.approx(given.parameters.rig.pole, abs=1e-12)


@pytest.mark.parametrize("scenario", ["headings", "dribble"])
def test_the_spring_has_the_force_and_the_ball_the_grounds_friction(scenario):
    given = setup(scenario, "parameters.press_force=9.0")
    root = ET.fromstring(expand_for_gazebo(given))
    spring = root.find("gazebo[@reference='press_1']")
    stiffness, reference = (
        float(spring.findtext(name)) for name in ("springStiffness", "springReference")
    )
    assert stiffness * reference == pytest.approx(9.0)
    ball = float(root.findtext("gazebo[@reference='base_link']/mu1"))
    assert ball == (given.contact.friction["ground"] if given.contact else 1000.0)


@pytest.mark.parametrize("scenario", ["headings", "dribble"])
def test_no_other_simulator_gets_anything_of_it(scenario):
    root = ET.fromstring(setup(scenario).urdf())
    assert not root.findall("gazebo")
    assert not [j for j in root.iter("joint") if j.get("name") == "mount"]
