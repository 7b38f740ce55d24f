"""A sphere driven by two constraint rollers, with slip."""
