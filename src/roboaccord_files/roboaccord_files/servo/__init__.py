"""Compare how servos of joints answer in every engine: the command `accord servo FILE`.

A PD servo with the same gains answers differently where its effort is held over a control period,
where an engine solves for it at the end of a step, or where a rotor is left out. From below:
linear.py (a servo and one joint in closed form: responses, poles, the gain where it becomes
unstable, and how a response is measured), rig.py (a joint of a robot in an engine), identify.py
(which servo answers like that, and gains by which another does), compare.py (all joints in all
engines), shown.py (tables and pictures), command.py.

The schemes of linear.py are facts about engines (test_servo: each answers to round-off), and the
keys of `--json` stay. Engines drive joints by `EngineSimulator.drive`. Tests: test_servo.py in
src/roboaccord_files/test, against scipy and raw calls of engines.
"""
