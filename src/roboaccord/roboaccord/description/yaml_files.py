"""YAML files, with numbers as engineers write them, bounded in size, depth and aliases.

LARGEST, DEEPEST and MOST may be raised; test_malformed tests files beyond each. The differences
from YAML 1.1 are those of `_NumberLoader` (1e-3 is a number, whole numbers have 64 bits): files of
users hang on them. What must stay is the safe loader, and the check of sizes before anything is
made of a text. A format on top of YAML may be added as a function of the folder that owns it, not
one here.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from roboaccord.contract.errors import AccordError
from roboaccord.contract.files import LARGEST_TEXT, read_text

LARGEST = 1_000_000  # characters of a text that a person writes
DEEPEST = 50  # levels of lists and mappings
MOST = 1_000_000  # values, each alias counted as what it stands for
_FAST: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast


def parse_yaml(text: str) -> Any:
    """Return the value of a YAML text.

    Raises:
        yaml.YAMLError: if it is none, or too large.
    """
    return _load(text, _NumberLoader, LARGEST)


def parse_record(text: str) -> Any:
    """Return the value of a YAML text that a program wrote; errors as of `parse_yaml`."""
    return _load(text, _FAST, LARGEST_TEXT)


def read_yaml(path: Path) -> dict[str, Any]:
    """Read a mapping from a YAML file.

    Raises:
        AccordError: if it cannot be read, is not YAML or holds no mapping.
    """
    text = read_text(path)
    try:
        data = parse_yaml(text)
    except yaml.YAMLError as error:
        raise AccordError(f"cannot read {path}: {str(error).splitlines()[0]}") from None
    if not isinstance(data, dict):
        raise AccordError(f"cannot read {path}: it holds no keys")
    for key in data:
        if not isinstance(key, str):
            raise AccordError(f"cannot read {path}: {key!r} is not a key")
    return data


def _load(text: str, loader: Any, largest: int) -> Any:
    if len(text) > largest:
        raise yaml.YAMLError(f"a text of more than {largest} characters is too long")
    try:
        _check_size(text)
        return yaml.load(text, Loader=loader)  # noqa: S506 - safe ones
    except yaml.YAMLError as error:
        if "nesting depth" in str(error):  # of newer versions of libyaml, before any event
            raise yaml.YAMLError(f"values are nested more than {DEEPEST} deep") from None
        raise
    except Exception as error:  # noqa: BLE001 - a tag such as !!int raises whatever its reader does
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise yaml.YAMLError(f"a value cannot be read: {reason}") from None


def _check_size(text: str) -> None:
    """Refuse a text by its events, before anything is made of it: one alias can stand for many.

    Raises:
        yaml.YAMLError: if it is nested too deeply, or has too many values.
    """
    sizes = dict[str, int]()  # of what aliases stand for; what is not ended yet is not among them
    open_: list[tuple[str | None, int]] = [(None, 0)]  # anchors, and the values so far
    for event in yaml.parse(text, Loader=_FAST):
        anchor, size = getattr(event, "anchor", None), 1
        if isinstance(event, yaml.CollectionStartEvent):
            open_.append((anchor, 0))
            if len(open_) > DEEPEST:
                raise yaml.YAMLError(f"values are nested more than {DEEPEST} deep")
            continue
        if isinstance(event, yaml.CollectionEndEvent):
            anchor, size = open_.pop()
            size += 1
        elif isinstance(event, yaml.AliasEvent):
            if not (size := sizes.get(str(anchor), 0)):
                raise yaml.YAMLError(f"alias {anchor} stands for itself, or for nothing")
            anchor = None
        elif not isinstance(event, yaml.ScalarEvent):
            continue
        if anchor:
            sizes[anchor] = size
        open_[-1] = (open_[-1][0], open_[-1][1] + size)
        if open_[-1][1] > MOST:
            raise yaml.YAMLError(f"it has more than {MOST} values")


class _NumberLoader(yaml.SafeLoader):
    """Read 1e-3 as a number, as every engineer means it and YAML 1.1 does not."""

    def construct_yaml_int(self, node: Any) -> int:
        """Return a whole number of 64 bits."""
        value: int = super().construct_yaml_int(node)
        if abs(value) >= 1 << 63:
            raise yaml.YAMLError("a whole number has more than 64 bits")
        return value


_NumberLoader.yaml_implicit_resolvers = {
    k: list(v) for k, v in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_NumberLoader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+$"),
    list("-+.0123456789"),
)
_NumberLoader.add_constructor("tag:yaml.org,2002:int", _NumberLoader.construct_yaml_int)
