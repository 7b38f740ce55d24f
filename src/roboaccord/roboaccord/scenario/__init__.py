"""What is run: robots, scenarios, and the setup that brings the two together.

Names for robots, nodes and pages may be added, as lines of `__init__.pyi` (test_door). `Robot` and
`Setup` are what packages of others derive from and are given: their names and arguments stay. This
folder stands on `contract`, `numerics` and `description`; simulators and engines are above it.
"""

from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
