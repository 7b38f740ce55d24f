"""Commands that the studies add to `accord snake`, one module each.

Commands may be added, as modules here and entry points in setup.cfg; names and options that exist
stay.
"""
