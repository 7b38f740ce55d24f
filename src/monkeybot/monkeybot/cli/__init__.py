"""`accord monkeybot`: the MonkeyBot's own commands, one module each.

Commands may be added, as modules here and entries in `cli` of robot.py; names and options that
exist stay.
"""
