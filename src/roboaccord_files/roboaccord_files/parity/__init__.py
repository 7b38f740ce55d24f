"""Parity: what each engine's own reader makes of a URDF, and which link makes the difference.

From below: result.py (what is found), compare.py and ablation.py (a reading against the reference,
and causes), bench.py and examine.py (one robot in one engine), collection.py (many, in processes of
their own), repaired.py; door.py and command.py are `ra.parity` and `accord parity`.
"""
