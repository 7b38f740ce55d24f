"""`accord roller-sphere`: the roller sphere's own commands, one module each.

Commands may be added, as modules here and entries in `cli` of robot.py; names and options that
exist stay.
"""
