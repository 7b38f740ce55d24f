"""What every simulator derives from, and references of joint space and of trees.

A name for robots and engines is a line of `__init__.pyi` (test_door). Nothing here knows a physics
library: what one needs goes into `engines`, what one robot needs into its package.
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
