"""What the report did and claims: its joint clamp and its collapse.

variants   the simulator with the report's contact, in which joints are stopped
collapse   the report's experiment: the arm falls without torque until it is at rest

The rules of the report must stay, errors included; figures of results may be added in collapse.py.
Tests: test_packbot_report_variants, test_packbot_collapse.
"""
