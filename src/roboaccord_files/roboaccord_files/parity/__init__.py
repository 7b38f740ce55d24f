"""Parity: what each engine's own reader makes of a URDF, and which link makes the difference.

From below: words.py (codes, and all that is said in English), result.py (what is found), compare.py
(a reading against the reference, the analytical model), bench.py (an engine asked for texts of one
robot); ablation.py and properties.py (causes); reading.py and shipped.py, the two levels, each with
`measure`, `judge` and `rows`, and levels.py, their tuple; answers.py (one robot), collection.py
(many, in processes of their own), repaired.py; door.py and command.py are `ra.parity` and `accord
parity`. Engines' readers come by entry points (that of SDFormat is sdformat.py) and may be added
without a change here; names in result.py, keys of the JSON, stay.
"""
