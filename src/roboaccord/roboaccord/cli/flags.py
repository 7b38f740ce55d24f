"""Help in which options that take no value are shown without a type, `--json` and not `<bool>`.

Typer, which parses command lines, writes the type of each option in the help. `PlainFlags` is mixed
into the classes of all commands and groups: the type of an option without a value is left out.
"""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand


class PlainFlags:
    """A command or group in whose help options without a value have no type."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters; the text for the type is empty where there is no value."""
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            if getattr(parameter, "is_flag", False):
                parameter.metavar = ""
        return parameters


class PlainCommand(PlainFlags, TyperCommand):
    """A command whose help shows options without a value plainly."""
