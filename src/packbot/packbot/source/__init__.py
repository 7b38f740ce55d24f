"""Contact scheme and experiment of the source report (GRRC TR 2010-02), for comparison.

variants   simulator with the report's contact scheme `joint_clamp`, which stops joints
collapse   the report's experiment: the arm falls without torque until it is at rest

The rules of the report must stay, errors included; figures of results may be added in collapse.py.
Tests: test_packbot_report_variants, test_packbot_collapse.
"""
