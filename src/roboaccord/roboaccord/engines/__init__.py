"""Physics engines behind the Simulator interface, for any robot with a URDF.

Engines: spec.py says what an engine is, installed.py finds the installed ones, base.py is the base
class of their simulators, with force_laws.py, compiled.py (forces as a kernel) and touch_events.py.
model.py is what they simulate; through mechanism.py they answer for their own model, and through
reading.py for robot files. DART and MuJoCo have folders of their own.

Twins, which are our equations of motion under an engine's integration method: twin.py, with
twin_coordinates, twin_steps, twin_rounding and grip. Changed and moved models: deviations, moves,
symmetries. Comparison: differences, charts.

A new engine is an `EngineSpec` in a package of its own, found by the entry points
`roboaccord.engines` (docs/new_engine.md); it needs no line here. Names of engines, settings and
features stay, as does the exactness of twins. Names that packages import are lines of
`__init__.pyi` (test_door). `spec` is imported first because a module has that name, too: keep it
above `lazy_names`.

Tests: of the package test_engine_spec, test_engine_conformance, test_engines, test_scheme,
test_invariance, test_formats, test_hulls_in_engines.
"""

from roboaccord.engines.installed import spec as spec  # before the module of the same name
from roboaccord.numerics.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
