"""YAML files, with numbers as engineers write them, bounded in size, depth and aliases.

`read_yaml` reads a mapping from a file, `parse_yaml` and `parse_record` any value from a text. The
safe loader makes plain values only, and a text is measured before anything is made of it, because a
few aliases can stand for billions of values (test_malformed). There are two differences from YAML
1.1 (`_NumberLoader`): 1e-3 is a number, and whole numbers have at most 64 bits.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from roboaccord.contract.errors import AccordError
from roboaccord.contract.files import LARGEST_TEXT, read_text

# Limits, which may be raised.
LARGEST_YAML = 1_000_000  # characters of a text that a person writes: some 20 000 lines
# Levels of lists and mappings: a scenario has five, and Python's limit of 1000 calls is far.
DEEPEST_LEVEL = 50
# Values, where an alias counts as all that it stands for: as many as LARGEST_YAML has characters.
MOST_VALUES = 1_000_000
# Loader for texts that programs write: the one in C, where it is installed, is ten times as fast.
_FAST_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def parse_yaml(text: str) -> Any:
    """Return the value of a YAML text.

    Raises:
        yaml.YAMLError: if the text is not YAML, or too large.
    """
    return _load(text, _NumberLoader, LARGEST_YAML)


def parse_record(text: str) -> Any:
    """Return the value of a YAML text that a program wrote; errors as of `parse_yaml`."""
    return _load(text, _FAST_LOADER, LARGEST_TEXT)


def read_yaml(path: Path) -> dict[str, Any]:
    """Read a mapping from a YAML file.

    Raises:
        AccordError: if it cannot be read, is not YAML or holds no mapping.
    """
    text = read_text(path)
    try:
        data = parse_yaml(text)
    except yaml.YAMLError as error:
        reason = str(error).splitlines()[0]
        if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark:
            reason = f"line {error.problem_mark.line + 1}: {error.problem}"
        raise AccordError(f"cannot read {path}: {reason}") from None
    if not isinstance(data, dict):
        raise AccordError(f"cannot read {path}: it holds no keys")
    for key in data:
        if not isinstance(key, str):
            raise AccordError(f"cannot read {path}: {key!r} is not a key")
    return data


def _load(text: str, loader: Any, largest: int) -> Any:
    """Return the value of a YAML text of at most `largest` characters."""
    if len(text) > largest:
        raise yaml.YAMLError(f"a text of more than {largest} characters is too long")
    try:
        _check_size(text)
        return yaml.load(text, Loader=loader)  # noqa: S506 - safe ones
    except yaml.YAMLError as error:
        if "nesting depth" in str(error):  # of newer versions of libyaml, before any event
            raise yaml.YAMLError(f"values are nested more than {DEEPEST_LEVEL} deep") from None
        raise
    except Exception as error:  # noqa: BLE001 - a tag such as !!int raises whatever its reader does
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise yaml.YAMLError(f"a value cannot be read: {reason}") from None


def _check_size(text: str) -> None:
    """Refuse a text with too many values, before any is made: an alias can stand for many.

    Raises:
        yaml.YAMLError: if it is nested too deeply, or has too many values.
    """
    sizes = dict[str, int]()  # number of values of each anchor, once it has ended
    # Collections that have not ended: anchor, and number of values so far.
    unfinished: list[tuple[str | None, int]] = [(None, 0)]
    for event in yaml.parse(text, Loader=_FAST_LOADER):
        anchor, size = getattr(event, "anchor", None), 1
        if isinstance(event, yaml.CollectionStartEvent):
            unfinished.append((anchor, 0))
            if len(unfinished) > DEEPEST_LEVEL:
                raise yaml.YAMLError(f"values are nested more than {DEEPEST_LEVEL} deep")
            continue
        if isinstance(event, yaml.CollectionEndEvent):
            anchor, size = unfinished.pop()
            size += 1
        elif isinstance(event, yaml.AliasEvent):
            if not (size := sizes.get(str(anchor), 0)):
                raise yaml.YAMLError(f"alias {anchor} stands for itself, or for nothing")
            anchor = None
        elif not isinstance(event, yaml.ScalarEvent):
            continue
        if anchor:
            sizes[anchor] = size
        outer_anchor, count = unfinished[-1]
        unfinished[-1] = outer_anchor, count + size
        if count + size > MOST_VALUES:
            raise yaml.YAMLError(f"it has more than {MOST_VALUES} values")


class _NumberLoader(yaml.SafeLoader):
    """Read 1e-3 as a number, as every engineer means it and YAML 1.1 does not."""

    def construct_yaml_int(self, node: Any) -> int:
        """Return a whole number of 64 bits."""
        value: int = super().construct_yaml_int(node)
        if abs(value) >= 1 << 63:
            raise yaml.YAMLError("a whole number has more than 64 bits")
        return value


_RESOLVERS = yaml.SafeLoader.yaml_implicit_resolvers
_NumberLoader.yaml_implicit_resolvers = {key: [*rules] for key, rules in _RESOLVERS.items()}
_WITH_EXPONENT = re.compile(r"^[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+$")  # as 1e-3
_FIRST_CHARACTERS = list("-+.0123456789")  # characters with which such a number begins
_NumberLoader.add_implicit_resolver("tag:yaml.org,2002:float", _WITH_EXPONENT, _FIRST_CHARACTERS)
_NumberLoader.add_constructor("tag:yaml.org,2002:int", _NumberLoader.construct_yaml_int)
