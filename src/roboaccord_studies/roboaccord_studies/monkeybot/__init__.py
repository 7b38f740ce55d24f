"""Studies of the MonkeyBot: stable gaits, their families, maps, basins and feedback.

Nothing here is in the report, whose search, figures and gaits are in `monkeybot`.
"""
