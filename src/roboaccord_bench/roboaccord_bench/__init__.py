"""Contact problems with exact answers, run in every engine: the command `accord bench`.

A problem is a small class in problems/, an engine an adapter in engines/; each is found by its
file, or by an entry point of another package. From below: scene.py (bodies, and their URDF, SDF and
MJCF), engine.py and problem.py (the two interfaces), witness.py (the certificate of a run), ramp.py
and pairing.py (what several problems need), outcome.py (what errors at falling steps show),
found.py (problems and engines by name), bench.py (all runs), shown.py, published.py and page.py
(words, files, page), command.py. check.py stands alone: it needs numpy, and no other file of this
package.

Keys of `--json` and the formats of published files stay. Tests are in src/roboaccord_bench/test.
"""
