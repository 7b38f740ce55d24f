"""DART behind the Simulator interface: its `EngineSpec`.

Modules: settings (of the user), skeleton (loading of a description), model (its equations and
properties), base (joints of the base), contact, fixtures (obstacles), simulator (the physics step),
and reader (for `accord parity`).

`lacks`, `expert` and `scheme` are facts about DART (test_expert, test_scheme); a line of `lacks` is
removed when simulator.py has the feature. Do not import dartpy in this file, because every command
reads it.
"""

from __future__ import annotations

from roboaccord.engines.dart.settings import DartSettings
from roboaccord.engines.spec import EngineSpec, Scheme, imported

# The settings of `expert` are those of docs/engines.md, Expert settings.
SPEC = EngineSpec(
    name="dart",
    package="dartpy",
    version=imported("dartpy:__version__"),
    simulator=imported("roboaccord.engines.dart.simulator:DartSimulator"),
    reader=imported("roboaccord.engines.dart.reader:DartReading"),
    settings=DartSettings,
    lacks={
        "armature_impacts": "no reflected inertia where contacts or stops can act: "
        "its impulses do not know it; use the reference or mujoco"
    },
    default=True,
    bodies=True,
    expert={"friction_solver": "nsgs", "friction_iterations": 1000},
    scheme=lambda model: Scheme("semi-implicit Euler", turning="cut off"),
)
