"""Physical parameters: declared in a file, read-only, refused where they make no robot."""

import pickle

import pytest
from roboaccord.contract.errors import AccordError
from roboaccord.description import parameters
from roboaccord.description.parameters import Parameters, load_parameters, parameter_file

FILE = """
count: {value: 3, unit: "1", source: chosen, uncertainty: none}
mass: {value: 2, unit: kg, source: chosen, uncertainty: none}
"""


class Chain(Parameters):
    """Parameters of a chain: number of links, and the mass of each."""

    count: int

    def check(self):
        if not self.mass > 0:
            raise ValueError("mass must be positive")

    @property
    def total(self):
        """Mass of all links [kg]."""
        return self.count * self.mass


@pytest.fixture
def declare(tmp_path, monkeypatch):
    """Return a function that writes the parameter file of a package named chain."""

    def write(text):
        (tmp_path / "config").mkdir(exist_ok=True)
        (tmp_path / "config/parameters.yaml").write_text(text)
        monkeypatch.setattr(parameters, "share", lambda package: tmp_path)

    parameter_file.cache_clear()
    yield write
    parameter_file.cache_clear()


def test_a_parameter_is_declared_in_the_file_alone(declare):
    """Fields, kinds and derived quantities come of the file; what is annotated int stays whole."""
    declare(FILE)
    p = load_parameters(Chain, "chain", {"mass": 0.5})
    assert p.as_dict() == {"count": 3, "mass": 0.5} and p.total == 1.5
    assert [type(value) for value in p.as_dict().values()] == [int, float]


@pytest.mark.parametrize("entry", ["2.0", "{unit: kg}", "{value: heavy}", "{value: true}"])
def test_an_entry_without_a_number_is_refused(declare, entry):
    declare(f"mass: {entry}")
    with pytest.raises(AccordError, match=r"parameters\.yaml: mass has no value that is a number"):
        load_parameters(Chain, "chain")


def test_parameters_are_read_only_and_equal_by_value(declare):
    declare(FILE)
    p = load_parameters(Chain, "chain")
    with pytest.raises(AttributeError, match="read-only: mass"):
        p.mass = 1.0
    assert p.mass == 2.0
    assert pickle.loads(pickle.dumps(p)) == p
    assert p.replace(mass=3.0) == load_parameters(Chain, "chain", {"mass": 3.0})
    assert p.replace(mass=3.0) != p
    with pytest.raises(TypeError, match="unknown parameter mas; did you mean mass"):
        p.replace(mas=3.0)
