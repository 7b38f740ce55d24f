"""`accord packbot`: the Packbot's own commands, one module each.

collapse       `fall`: the report's experiment
look, frozen   the arm in one pose; the arm with a frozen joint
reach          `plan` and `reach-target`: paths, and reaches of failed arms
options        options that commands share

Commands may be added, as modules here and entries in `cli` of robot.py. Names and options that
exist, and keys of `--json`, must stay. Tests: test_packbot_collapse, _kinematics, _sight, _faults.
"""
