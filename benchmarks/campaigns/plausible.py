"""Rules of plausibility on public robots: how often they speak, and of which planted faults.

The files are those of fleet.py. A finding of `gyration-beyond-shape` or
`centre-outside-shape` is doubtful where it is possible in shapes half as large again: there the
shapes may be too small, and not the inertial wrong. Faults are planted in the
first files of the order that have masses and shapes, one at a time, in the heaviest link or in
all; a hit is a finding that the file had not before. The volume of a planted density is that of
qhull. Rows of what is done are kept.

    nice python -m benchmarks.campaigns.plausible --folder FOLDER --out FILE
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np
from benchmarks.campaigns.fleet import chosen, options
from benchmarks.campaigns.rows import keep, read
from roboaccord.contract.errors import AccordError
from roboaccord.description.urdf_file import UrdfFile
from roboaccord.engines.formats import read_robot
from roboaccord_files.rules.bodies import Solid, bodies
from roboaccord_files.rules.find import findings
from roboaccord_files.rules.joints import joints
from roboaccord_files.rules.plausible import beyond_shape, plausible
from roboaccord_files.rules.plausible import signs as reversed_signs
from roboaccord_files.rules.sides import other_side
from roboaccord_files.rules.source import Source
from roboaccord_files.rules.units import units
from scipy.spatial import ConvexHull

RULES = (
    "gyration-beyond-shape", "centre-outside-shape", "density", "density-alike", "mirrored-mass",
    "products-sign", "inertia-in-another-unit", "limits-without-0", "mesh-scale",
    "reduction-inertia",
)  # fmt: skip
# Times: shapes that would clear a doubtful finding: half as large again, as docs/rules.md has it.
LARGER = 1.5
STEEL = 7850.0  # kg/m^3, of structural steel (EN 1991-1-1: 77.0 to 78.5 kN/m^3)
Plant = Callable[[ET.Element, list[Solid]], bool]


@dataclass(frozen=True)
class Row:
    """What came of a file: its error, bodies, findings by rule, doubtful ones, hits by fault."""

    name: str
    error: str
    bodies: int = 0
    found: dict[str, int] = field(default_factory=dict)
    doubtful: list[str] = field(default_factory=list)
    hits: dict[str, bool] = field(default_factory=dict)


def entry(body: Solid, tag: str) -> ET.Element:
    """Return an element of a link's inertial, made where it is missing."""
    found = body.inertial.find(tag)
    return ET.SubElement(body.inertial, tag) if found is None else found


def scaled(body: Solid, factor: float) -> None:
    """Multiply the entries of a link's inertia."""
    tensor = entry(body, "inertia")
    for key, value in tensor.attrib.items():
        tensor.set(key, repr(factor * float(value)))


def write_mass(body: Solid, mass: float) -> None:
    """Write a mass, and an inertia that grows with it."""
    entry(body, "mass").set("value", repr(mass))
    scaled(body, mass / body.mass)


def heaviest(links: Sequence[Solid]) -> Solid:
    """Return the body with the largest mass."""
    return max(links, key=lambda body: body.mass)


def inertia_times(factor: float, _top: ET.Element, links: list[Solid]) -> bool:
    """Plant an inertia times a factor."""
    scaled(heaviest(links), factor)
    return True


def box_in(metres: float, _top: ET.Element, links: list[Solid]) -> bool:
    """Plant the inertia of the box around a link, its lengths in a unit of so many metres."""
    body = heaviest(links)
    squares = (np.ptp(body.points, axis=0) / metres) ** 2 / 12.0
    tensor = entry(body, "inertia")
    for key, value in zip("xyz", body.mass * (squares.sum() - squares), strict=True):
        tensor.set(f"i{key}{key}", repr(float(value)))
    for key in ("ixy", "ixz", "iyz"):
        tensor.set(key, "0")
    entry(body, "origin").set("rpy", "0 0 0")
    return True


def centre_off(_top: ET.Element, links: list[Solid]) -> bool:
    """Plant a centre of mass that is off by the diagonal of the link."""
    body = heaviest(links)
    entry(body, "origin").set(
        "xyz", " ".join(map(repr, (body.centre + body.size * np.eye(3)[0]).tolist()))
    )
    return True


def mass_times(factor: float, _top: ET.Element, links: list[Solid]) -> bool:
    """Plant a mass times a factor."""
    write_mass(heaviest(links), factor * heaviest(links).mass)
    return True


def of_steel(_top: ET.Element, links: list[Solid]) -> bool:
    """Plant hulls full of steel, all of them."""
    for body in links:
        write_mass(body, STEEL * ConvexHull(body.points).volume)
    return len(links) >= 4


def signs(_top: ET.Element, links: list[Solid]) -> bool:
    """Plant products of inertia with the other sign, all of them, where they have not yet."""
    if any(reversed_signs(links)):
        return False
    for body in links:
        tensor = entry(body, "inertia")
        for key in ("ixy", "ixz", "iyz"):
            tensor.set(key, repr(-float(tensor.get(key, "0"))))
    return any(np.abs(body.inertia[np.triu_indices(3, 1)]).any() for body in links)


def one_side(_top: ET.Element, links: list[Solid]) -> bool:
    """Plant a mass of the left that is 5 % larger."""
    names = {body.link.get("name", "") for body in links}
    sided = [b for b in links if other_side(b.link.get("name", "")) in names - {b.link.get("name")}]
    if len(sided) >= 4:
        write_mass(heaviest(sided), 1.05 * heaviest(sided).mass)
    return len(sided) >= 4


def meshes_times(factor: float, top: ET.Element, _links: list[Solid]) -> bool:
    """Plant meshes of another unit, all of them."""
    meshes = list(top.iterfind("link//mesh"))
    for mesh in meshes:
        scale = [factor * float(word) for word in mesh.get("scale", "1 1 1").split()]
        mesh.set("scale", " ".join(map(repr, scale)))
    return bool(meshes)


# Errors of units and of decimal points, as public files have them.
PLANTS: dict[str, Plant] = {
    "inertia x 10": partial(inertia_times, 10.0),
    "inertia x 100": partial(inertia_times, 100.0),
    "inertia of a box in cm": partial(box_in, 1e-2),
    "inertia of a box in mm": partial(box_in, 1e-3),
    "inertia of a box in inches": partial(box_in, 0.0254),
    "centre of mass off": centre_off,
    "mass x 10": partial(mass_times, 10.0),
    "mass x 30": partial(mass_times, 30.0),
    "all of steel": of_steel,
    "products reversed": signs,
    "left 5 % heavier": one_side,
    "meshes x 1000": partial(meshes_times, 1e3),
    "meshes x 100": partial(meshes_times, 1e2),
    "meshes x 0.01": partial(meshes_times, 1e-2),
}


def speak(file: UrdfFile) -> set[tuple[str, str]]:
    """Return what rules of plausibility and of units find, by link."""
    source = Source(file)
    rows = [*plausible(source), *units(source), *joints(source)]
    named = {(rule, source.parents.get(e, e).get("name", "")) for rule, e, *_ in rows}
    return named | {("mesh-scale", name) for name in source.misscaled}


def planted(file: UrdfFile, plant: Plant) -> UrdfFile | None:
    """Return a file with a fault, None where it cannot be planted."""
    source = Source(file)
    if not plant(source.top, list(bodies(source))):
        return None
    return replace(file, text=ET.tostring(source.top, encoding="unicode"))


def doubtful(source: Source) -> list[str]:
    """Return the rules whose findings would be possible in shapes half as large again."""
    every = [b for b in bodies(source) if b.link.get("name") not in source.misscaled]
    grown = [
        replace(b, points=LARGER * (b.points - b.points.mean(axis=0)) + b.points.mean(axis=0))
        for b in every
    ]
    rules = {rule for rule, *_ in beyond_shape(every)}
    return sorted(rules - {rule for rule, *_ in beyond_shape(grown, (0.0, 0.0), 1.0)})


def examine(name: str, folder: Path, plants: dict[str, Plant]) -> Row:
    """Return what the rules find in a file, as it is and with each fault."""
    path, *words = name.split()
    try:
        file = read_robot(folder / path, {}, dict(word.split(":=") for word in words))
        rules = Counter(finding.rule for finding in findings(file))
        source = Source(file)
        count = len(list(bodies(source)))
        before = speak(file) if plants and count else set()
        hits = dict[str, bool]()
        for fault, plant in plants.items() if count else ():
            if faulty := planted(file, plant):
                hits[fault] = bool(speak(faulty) - before)
    except AccordError as error:
        return Row(name, str(error))
    kept = {rule: rules[rule] for rule in RULES if rules[rule]}
    return Row(name, "", count, kept, doubtful(source), hits)


def table(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the rates of findings, of doubtful ones and of hits, as lines of Markdown."""
    there = [row for row in rows if not row.error]
    judged = [row for row in there if row.bodies]
    yield f"{len(rows)} files, {len(there)} read, {len(judged)} with masses and shapes"
    yield "| rule | files | doubtful | doubtful, of all files |"
    yield "|---|---|---|---|"
    for rule in RULES:
        count = sum(rule in row.found for row in there)
        doubt = sum(rule in row.doubtful for row in there)
        yield f"| {rule} | {count} | {doubt} | {doubt / len(there):.1%} |"
    yield "| planted fault | found | of |"
    yield "|---|---|---|"
    for fault in PLANTS:
        asked = [row.hits[fault] for row in judged if fault in row.hits]
        yield f"| {fault} | {sum(asked)} ({np.mean(asked or [False]):.0%}) | {len(asked)} |"


def main() -> None:
    """Examine what is not in the file yet, then print the table."""
    parser = options(__doc__)
    parser.add_argument("--planted", type=int, default=100, help="files that get faults")
    asked = parser.parse_args()
    wanted = chosen(asked.folder, asked.count)
    done = {row.name: row for row in read(asked.out, Row)}
    jobs = [(name, PLANTS if i < asked.planted else {}) for i, name in enumerate(wanted)]
    jobs = [(name, plants) for name, plants in jobs if name not in done]
    for row in keep(asked.out, (examine(name, asked.folder, plants) for name, plants in jobs)):
        done[row.name] = row
        print(f"{len(done)} of {len(wanted)}: {sum(row.found.values())} {row.name}", flush=True)
    print(*table([done[name] for name in wanted]), sep="\n")


if __name__ == "__main__":
    main()
