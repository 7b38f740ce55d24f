"""Displays that are installed for launches."""

from __future__ import annotations

from roboaccord.contract import plugins


def displays_of_launches() -> dict[str, str]:
    """Return the module of the node of each display, by the name of the display."""
    nodes = [entry for name, entry in plugins.entries("displays").items() if name.endswith(".node")]
    return {entry.name.removesuffix(".node"): entry.module for entry in nodes}
