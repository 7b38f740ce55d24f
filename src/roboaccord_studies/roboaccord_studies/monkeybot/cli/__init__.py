"""Commands that the studies add to `accord monkeybot`, one module each.

A command is added as a module here and an entry point in setup.cfg. Names and options that exist
stay. Tests are in test/monkeybot_studies.
"""
