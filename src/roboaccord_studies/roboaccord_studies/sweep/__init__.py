"""Sweeps: a scenario's figure over many seeds, its statistics and their page.

command.py is `accord sweep`, door.py `ra.sweep`, study.py its result, page.py the page. The runs
and their statistics are the core's (roboaccord/run/sweep.py), which cross-checks use.
"""
