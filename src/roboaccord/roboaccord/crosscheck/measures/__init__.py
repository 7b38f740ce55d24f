"""Measurements of the larger levels; the level of the same name in levels/ judges them.

A check, the result of a measurement, is plain data, since levels are measured in other processes;
its fields are keys of summary.json and stay. Functions may be changed as their tests in
src/roboaccord/test allow. Nothing here imports levels/.
"""
