"""A sphere driven by two constraint rollers, with slip.

Nothing to edit here: the package is entered by roller_sphere/robot.py, which setup.cfg registers.
"The paper" in docstrings is Kimura, Ogata and Ishii (2019), docs/roller_sphere.md; numbers in
brackets are its equations; "ours" is what this workspace has chosen.
"""

from roboaccord.contract import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
