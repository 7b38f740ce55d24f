"""Names of engines by profile. It imports nothing, for names of engines are needed at once."""

EXPERT = " (expert)"
"""Behind the name of an engine that is held to its expert settings."""


def plain(engine: str) -> str:
    """Return the name of an engine without that of its profile, as scenarios have it."""
    return engine.removesuffix(EXPERT)
