"""Studies of the MonkeyBot: stable gaits, their families, maps, basins and feedback.

Studies may be added, as modules here and commands in setup.cfg. What is in the report (search,
figures, gaits) must stay in `monkeybot`.
"""
