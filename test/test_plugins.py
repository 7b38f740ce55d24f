"""What packages add by entry points, and what is said of it where they are not installed."""

from __future__ import annotations

from collections import defaultdict
from importlib.metadata import distribution

import pytest
import roboaccord as ra
import yaml
from roboaccord import AccordError
from roboaccord.contract import plugins
from roboaccord.description import share

GROUPS = ("commands", "controllers", "displays", "functions", "robots", "scenarios", "storages")
SHELF = yaml.safe_load(plugins.INDEX.read_text("utf-8"))
ADDED = [(package, group, name) for package in SHELF for group, names in SHELF[package].items()
         for name in names]  # fmt: skip


def name_of(package: str) -> str:
    return package if package.startswith("roboaccord") else f"roboaccord_{package}"


@pytest.mark.parametrize("package", SHELF)
def test_the_list_of_what_packages_add_is_that_of_their_entry_points(package: str) -> None:
    """Scenarios are listed one by one, as `accord list` has them."""
    by_group = defaultdict(list)
    for entry in distribution(name_of(package)).entry_points:
        group = entry.group.removeprefix("roboaccord.")
        if group == "scenarios":
            folder = share(entry.value) / "scenarios" / entry.name
            by_group[group] += [f"{entry.name}.{path.stem}" for path in folder.glob("*.yaml")]
        elif group in GROUPS:
            by_group[group].append(entry.name)
    listed = {group: sorted(names) for group, names in SHELF[package].items()}
    options = listed.pop("options", [])
    assert listed == {group: sorted(names) for group, names in by_group.items()}
    for command, _, option in (each.rpartition(".") for each in options):
        modes = plugins.added("commands", command)
        assert any(
            option in plugins.load("commands", f"{command}.{m}").options.split() for m in modes
        )


@pytest.mark.parametrize(("package", "group", "name"), ADDED)
def test_what_is_not_installed_is_named_with_its_package(
    package: str, group: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one line, with the folder that has it."""
    monkeypatch.setattr(plugins, "entries", lambda _: {})
    with pytest.raises(AccordError, match=f"src/{package} of the repository$") as caught:
        plugins.load(group, name)
    assert "\n" not in str(caught.value)


def test_a_function_that_no_package_adds_is_no_attribute() -> None:
    """Names of the core and of packages are listed together."""
    with pytest.raises(AttributeError, match="No roboaccord attribute nonsense"):
        _ = ra.nonsense
    assert {n for n in plugins.entries("functions") if "." not in n} <= {*dir(ra)}
