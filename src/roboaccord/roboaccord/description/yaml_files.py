"""YAML files, with numbers as engineers write them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from roboaccord.contract.errors import AccordError


def parse_yaml(text: str) -> Any:
    """Return the value of a YAML text.

    Raises:
        yaml.YAMLError: if it is none.
    """
    return yaml.load(text, Loader=_NumberLoader)  # noqa: S506 - a safe loader


def read_yaml(path: Path) -> dict[str, Any]:
    """Read a mapping from a YAML file.

    Raises:
        AccordError: if it cannot be read, is no YAML or holds no mapping.
    """
    try:
        data = parse_yaml(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise AccordError(f"cannot read {path}: {reason}") from None
    if not isinstance(data, dict):
        raise AccordError(f"cannot read {path}: it holds no keys")
    return data


class _NumberLoader(yaml.SafeLoader):
    """Read 1e-3 as a number, as every engineer means it and YAML 1.1 does not."""


_NumberLoader.yaml_implicit_resolvers = {
    k: list(v) for k, v in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_NumberLoader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+$"),
    list("-+.0123456789"),
)
