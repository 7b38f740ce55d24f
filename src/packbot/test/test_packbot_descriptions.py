"""Descriptions of the arm with changed parameters, as a cross-check makes them by the hundred."""

from roboaccord.crosscheck.causes.reference import numbers_of, with_parameter
from roboaccord.description.resources import share
from roboaccord.description.xacro_file import expand_xacro
from roboaccord.scenario import setup as module
from roboaccord.scenario.setups import load_setup


def test_a_second_round_over_all_parameters_is_free(monkeypatch):
    """It took as long as the first: 80 descriptions did not fit where they are kept."""
    setup, expanded = load_setup("packbot", "push"), []
    text = setup.urdf()
    monkeypatch.setattr(module, "expand_xacro", lambda path, _: expanded.append(path) or text)
    for key, value in 2 * list(numbers_of(setup).items()):
        with_parameter(setup, key, 1.0001 * value)
    assert 64 < len(expanded) <= len(numbers_of(setup))


def test_all_parameters_are_handed_over():
    """So the description is the same whether the xacro reads their file or not."""
    arguments = load_setup("packbot", "reach_real").xacro_arguments
    path = share("packbot") / "urdf" / "packbot.urdf.xacro"
    assert expand_xacro(path, arguments) == expand_xacro(path, {**arguments, "complete": "false"})
