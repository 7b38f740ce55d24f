"""A sphere driven by two constraint rollers, with slip.

Nothing may be changed here but this text: the package is entered by roller_sphere/robot.py, which
setup.cfg registers, and that name must stay. "The paper" in docstrings is Kimura, Ogata and Ishii
(2019), docs/roller_sphere.md; numbers in brackets are its equations; "our choice" is what this
workspace has chosen, and may be changed.
"""

from roboaccord.contract import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
