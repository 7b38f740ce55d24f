"""Studies of the MonkeyBot: stable gaits, their families, maps, basins and feedback.

kinds, orbits               gaits that repeat, their multipliers, and those that ship
find                        gaits from random starts
continuation, bifurcations  families of gaits, and where their stability changes
clocked, level, flood       gaits of constant torque over grids, each found from a neighbour
stability, design           maps over period and torque, and over the links' mass distribution
rollouts, basin             many walks, disturbed; the share that survives
lqr, feedback               feedback on the time of the change of hands
landscape, symmetry         the report's landscapes as a page; mirror images of swings

Studies are added as modules here and commands in setup.cfg. The report's own search, figures and
gaits stay in `monkeybot`. Names of commands, options and JSON keys stay. Tests are in
test/monkeybot_studies.
"""
