"""Libraries that not every command needs, by the extra of this distribution that brings them."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from importlib.util import find_spec

from roboaccord.contract.errors import AccordError

EXTRAS: Mapping[str, Mapping[str, str]] = {
    "reference": {"joblib": "joblib>=1.5", "numba": "numba>=0.60,<0.69", "scipy": "scipy>=1.11"},
    "report": {
        "jinja2": "jinja2>=3.1",
        "matplotlib": "matplotlib>=3.10",
        "PIL": "pillow>=10",
        "plotly": "plotly>=5.20",
    },
    "bag": {
        "mcap": "mcap>=1.2",
        "rosbags": "rosbags>=0.11.7,<0.12",
        "zstandard": "zstandard>=0.20",
    },
}
"""What pip is asked for, by module; setup.py has the same."""
DISPENSABLE = ("numba",)  # kernels are interpreted without it


def need(what: str, *extras: str) -> None:
    """Refuse to go on where libraries of extras are missing.

    Args:
        what: begins the message, "reports need" say.
        extras: their names.

    Raises:
        AccordError: one line that says what to install.
    """
    if line := missing(*extras):
        raise AccordError(f"{what} {line}")


def missing(*extras: str) -> str:
    """Return what is missing of extras, and how to install it; "" for nothing."""
    modules = {name: asked for extra in extras for name, asked in EXTRAS[extra].items()}
    return _line(
        asked for name, asked in modules.items() if name not in DISPENSABLE and not find_spec(name)
    )


def missing_behind(error: BaseException) -> str:
    """Return in a line which library of an extra is missing behind an error, "" for none."""
    name = (getattr(error, "name", None) or "").partition(".")[0]
    asked = next((modules[name] for modules in EXTRAS.values() if name in modules), "")
    if asked and isinstance(error, ModuleNotFoundError) and not find_spec(name):
        return f"this needs {_line([asked])}"
    return ""


def _line(asked: Iterable[str]) -> str:
    names = {each.partition(">")[0]: each for each in asked}
    words = [
        each if "<" in each else name for name, each in names.items()
    ]  # private parts are used
    return f"{', '.join(names)}: pip install {shlex.join(words)}" if names else ""
