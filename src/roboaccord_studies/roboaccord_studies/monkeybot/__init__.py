"""Studies of the MonkeyBot: stable gaits, their families, maps, basins and feedback.

kinds, orbits               gaits that repeat, their stability, and the shipped ones
find                        search of gaits from random starts
continuation, bifurcations  families of gaits, and where their stability changes
clocked, level, flood       gaits of constant torque over grids, each found from a neighbour
stability, design           maps over period and torque, and over the links' mass distribution
rollouts, basin             many disturbed walks, and the share that survives
lqr, feedback               feedback on the time of the change of hands
landscape, symmetry         the report's landscapes as a page; symmetry of swings

A study is added as a module here and a command in setup.cfg. The report's own search, figures and
gaits are in the package `monkeybot`. Names of commands, options and JSON keys stay. Tests are in
test/monkeybot_studies.
"""
