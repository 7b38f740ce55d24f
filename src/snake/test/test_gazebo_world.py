"""The world that Gazebo gets for a run of the snake, and the snake's form in it."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from roboaccord.contract.errors import AccordError
from roboaccord.description.resources import share
from roboaccord.gazebo.form import LEVEL, expand_for_gazebo
from roboaccord.gazebo.world import physics_of, world_for_run

pytest.importorskip("roboaccord_ros", reason="the worlds are not installed")

BEYOND = "friction.beyond={x: 1.5, mu_along: 0.5, mu_across: 0.8}"


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def shipped(name: str) -> Path:
    return share("roboaccord_ros") / "worlds" / f"{name}.sdf"


def written(setup, name="flat"):
    from roboaccord_files.gazebo.check import check_file

    path = world_for_run(shipped(name), setup)
    assert check_file(path, [share("roboaccord_ros") / "models"]) == []
    return path, ET.parse(path).getroot().find("world")


def test_a_run_has_the_scenarios_step_and_weight_and_no_pace_of_its_own(setup_with):
    path, world = written(setup_with("physics_step=0.0005", "parameters.gravity=3.7"))
    assert physics_of(path) == ("flat", 0.0005)
    assert world.findtext("gravity").split() == ["0.0", "0.0", "-3.7"]
    assert float(world.findtext("physics/real_time_factor")) == 0.0
    assert physics_of(shipped("flat")) == ("flat", 0.001)  # what ships stays


@pytest.mark.parametrize(
    ("step", "expected"), [(0.001, 0.00025), (0.000967792, 0.000241948), (0.0001, 0.0001)]
)
def test_a_step_too_long_for_the_world_is_divided(setup_with, step, expected):
    """wall.sdf states 0.25 ms, which its magnets need."""
    setup = setup_with(f"physics_step={step}", f"control_period={step}", f"duration={10 * step}")
    path, _ = written(setup, "wall")
    assert physics_of(path)[1] == pytest.approx(expected, rel=1e-12)
    assert int(physics_of(path)[1] * 1e9) == round(expected * 1e9)  # as Gazebo cuts it


def test_a_world_without_weight_stays_so(setup_with):
    _, world = written(setup_with(), "bearing")
    assert not any(float(word) for word in world.findtext("gravity").split())


def test_ground_that_changes_is_two_plates_under_links_with_the_larger_friction(setup_with):
    """A contact has the smaller coefficient of both surfaces, along the link's axes."""
    setup = setup_with(BEYOND, "friction.mu_along=0.1", "friction.mu_across=1.0")
    _, world = written(setup)
    assert world.find("include") is None
    grounds = {}
    for model in [m for m in world.findall("model") if m.find("link/collision") is not None]:
        x, _, z = (float(word) for word in model.findtext("pose").split()[:3])
        size = model.findtext("link/collision/geometry/box/size")
        long, _, high = (float(word) for word in size.split())
        ode = model.find("link/collision/surface/friction/ode")
        assert z + 0.5 * high == 0.0
        assert ode.find("fdir1") is None  # the direction is the link's
        mu = [float(ode.findtext(name)) for name in ("mu", "mu2")]
        grounds[model.get("name")] = [x - 0.5 * long, x + 0.5 * long, *mu]
    assert grounds["ground"] == pytest.approx([-100.0, 1.5, 0.1, 1.0])
    assert grounds["ground_beyond"] == pytest.approx([1.5, 100.0, 0.5, 0.8])
    for tag in ET.fromstring(expand_for_gazebo(setup)).findall("gazebo[@reference]"):
        assert [float(tag.findtext(name)) for name in ("mu1", "mu2")] == [0.5, 1.0]
        assert tag.findtext("fdir1") == "1 0 0"


def test_ground_that_cannot_change_there_is_refused(setup_with):
    for name, line in (("wall", "1.5"), ("flat", "150")):
        setup = setup_with(BEYOND.replace("1.5", line))
        with pytest.raises(AccordError, match=f"friction.beyond: Gazebo's world {name} has no"):
            world_for_run(shipped(name), setup)


def test_links_touch_with_spheres_or_with_their_boxes(setup_with):
    setup = setup_with()
    for contacts, shape in (("", "sphere"), ("spheres", "sphere"), ("boxes", "box")):
        root = ET.fromstring(expand_for_gazebo(setup, contacts))
        shapes = [geometry[0] for geometry in root.iterfind("link/collision/geometry")]
        assert {found.tag for found in shapes} == {shape}
        if shape == "sphere":  # it touches where the link's centre is, and where a box would
            radii = [float(found.get("radius")) for found in shapes]
            assert radii == pytest.approx([0.05] * 22, rel=1e-7)
            assert min(radii) > 0.05  # it touches from the first step on
        # A free base would roll over on spheres; the links on which it slides weigh nothing.
        slides = [joint.get("name") for joint in root.iterfind("gazebo/joint")]
        assert slides == (list(LEVEL) if shape == "sphere" else [])
        masses = [float(mass.text) for mass in root.iterfind("gazebo/link/inertial/mass")]
        assert sum(masses) < 1e-6 * 22 * setup.parameters.link_mass
    boxes = ET.fromstring(setup.urdf()).iterfind("link/collision/geometry")
    assert {geometry[0].tag for geometry in boxes} == {"box"}  # everywhere else
    with pytest.raises(AccordError, match="contacts is hulls; in Gazebo there is one of spheres"):
        expand_for_gazebo(setup, "hulls")
