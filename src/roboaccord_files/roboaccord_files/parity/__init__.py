"""Parity: what each engine's own reader makes of a URDF, and which link makes the difference.

From below: result.py (what is found), compare.py and ablation.py (a reading, what an engine's
reader makes of a file, against the reference, the analytical model; causes), bench.py and
examine.py (one robot in one engine), collection.py (many, in processes of their own), repaired.py;
door.py and command.py are `ra.parity` and `accord parity`. Engines' readers come by entry points
and may be added without a change here; names in result.py, keys of the JSON, stay.
"""
