"""Commands of these studies under `accord packbot`, one a module.

dynamics    accelerations, mass matrix and bias in one state
figures     the report's figures
workspace   what a failed arm still reaches; `detect`, `identify` and `equilibria` are beside their
            studies, and so is the mode `look --hulls`
options     options that commands share

Commands may be added, as modules and entry points in setup.cfg. Names and options that exist, and
keys of `--json`, must stay. Tests: test_commands, test_workspace, test_drawn.
"""
