"""Commands that are added to `accord packbot`, one a module, and the mode `look --hulls`.

Commands may be added, as modules here and entry points in setup.cfg; names and options that exist
stay.
"""
