"""Rules for what only one simulator reads in a URDF: <mujoco> and drake:* elements.

MuJoCo's <compiler> settings, for example, can change the masses of the robot in MuJoCo alone.
SETTINGS has what MuJoCo assumes if a URDF does not state them; only settings that differ are
reported. Their effect on masses follows MuJoCo's documentation of `compiler`: masses are computed
from shapes first, then raised to the lower bound (test_plausible.py asks MuJoCo). find.py calls
`find_readers`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from roboaccord.description.broken import Found
from roboaccord.description.rotors import rotor_inertias
from roboaccord.description.solids import read_geometry
from roboaccord.description.source import numbers

from roboaccord_files.rules.bodies import shape_points
from roboaccord_files.rules.source import Source

BOUNDS = {"boundmass": "0", "boundinertia": "0", "settotalmass": "-1"}
# Attributes of <compiler> with MuJoCo's defaults for a URDF, by the rule that reports them.
SETTINGS: Mapping[str, Mapping[str, str]] = {
    "mujoco-masses": {"inertiafromgeom": "auto", "balanceinertia": "false", **BOUNDS},
    "mujoco-links": {"fusestatic": "true"},
    "mujoco-meshes": {"discardvisual": "true", "strippath": "true", "meshdir": "", "assetdir": ""},
}
CURES = {
    "mujoco-masses": "write the masses and inertias that are meant into the links",
    "mujoco-links": "the dynamics are the same: compare bodies by name",
    "mujoco-meshes": "write paths that every reader finds, relative to the file",
}
# kg/m^3; density that MuJoCo gives to shapes without one of their own: its documented default.
DENSITY = 1000.0
DRAKE = "drake:"  # beginning of the elements that only Drake reads
ROTOR, GEAR = "drake:rotor_inertia", "drake:gear_ratio"  # elements of rotors


def find_readers(source: Source) -> Found:
    """Yield the settings that only MuJoCo reads, and the elements that only Drake reads."""
    for compiler in source.top.iterfind("mujoco/compiler"):
        for rule, defaults in SETTINGS.items():
            stated = dict[str, str]()
            for key, default in defaults.items():
                value = compiler.get(key, default).strip().lower()
                figures = numbers(compiler, key)
                if value != default and (not figures or any(x > 0.0 for x in figures)):
                    stated[key] = value
            if stated:
                settings = " ".join(f'{key}="{value}"' for key, value in stated.items())
                effect = _changed_masses(source, stated) if rule == "mujoco-masses" else ""
                yield rule, compiler, f"MuJoCo alone reads {settings}{effect}", CURES[rule]
    others = Counter[str]()
    for element in source.top.iter():
        if element.tag == ROTOR and source.file.form != "mujoco":  # in MJCF it is an armature
            transmission = source.parents[source.parents[element]]
            for name, added in rotor_inertias([transmission]).items():
                if added:
                    adds = f"adds {added:.3g} kg m^2 to it"
                    message = f"joint {name}: Drake alone reads {ROTOR}, and {adds}"
                    yield "drake-rotor", element, message, "give every engine this armature"
        elif element.tag.startswith(DRAKE) and element.tag not in (ROTOR, GEAR):
            others[element.tag] += 1
    for tag, count in others.items():
        element = next(source.top.iter(tag))
        times = f", {count} times" if count > 1 else ""
        cure = "state it in each engine's own model"
        yield "drake-tag", element, f"Drake alone reads <{tag}>{times}", cure


def _changed_masses(source: Source, stated: Mapping[str, str]) -> str:
    """Return the masses that MuJoCo changes, in words, as far as the shapes are known.

    Args:
        source: source of the URDF.
        stated: attributes of <compiler> that differ from the defaults, with their values.
    """
    changed = list[str]()
    bound = float(stated.get("boundmass", "0"))
    for name, link in source.links.items():
        mass = sum(numbers(link.find("inertial/mass"), "value"))
        in_mujoco, shapes = mass, link.findall("collision")
        if stated.get("inertiafromgeom") == "true" and shapes:
            in_mujoco = DENSITY * sum(shape_points(source, read_geometry(e))[1] for e in shapes)
        in_mujoco = max(in_mujoco, bound) if in_mujoco else in_mujoco
        if abs(in_mujoco - mass) > 1e-9 * mass:  # more than round-off
            changed.append(f"{name} {in_mujoco:.4g} kg for {mass:g}")
    return f", and makes {', '.join(changed[:4])}" if changed else ""
