"""Cases of MJCF files and of logs."""

from __future__ import annotations

import shlex
from pathlib import Path
from random import Random

from cases import RUN, Case, place, spoil
from hostile import XML_BOMBS
from hostile_files import BOMBS, GARBAGE
from test_readers import BODY, MJCF

GOOD_MJCF = """<mujoco model="arm"><compiler angle="radian"/>
<asset><hfield name="h" nrow="3" ncol="3" size="1 1 1 1"/>
<mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>
<default><joint damping="0.1"/></default>
<worldbody><geom type="hfield" hfield="h"/><include file="part.xml"/>
<body name="a" pos="0 0 1"><joint name="j" axis="0 1 0" range="-1 1" limited="true"/>
<geom type="capsule" size="0.1 0.3"/><replicate count="2" offset="0.1 0 0"><geom size="0.05"/>
</replicate><body name="b" pos="0.5 0 0" euler="0 0.1 0"><joint name="k" type="slide"/>
<inertial pos="0 0 0" mass="1" diaginertia="0.1 0.1 0.1"/><geom type="mesh" mesh="m"/></body></body>
</worldbody><actuator><motor joint="j" gear="2"/></actuator></mujoco>
"""
PART = '<mujocoinclude><geom name="floor" type="plane" size="1 1 1"/></mujocoinclude>'


def model(assets: str, world: str = BODY) -> str:
    """Return an MJCF model."""
    return f"<mujoco><asset>{assets}</asset><worldbody>{world}</worldbody></mujoco>"


# 1000^6 copies, 50,000 levels, images of 100,000^2: each far beyond any memory or stack.
MJCF_BOMBS = (
    *MJCF.values(),
    model("", '<replicate count="1000">' * 6 + '<geom size="1"/>' + "</replicate>" * 6 + BODY),
    model("", "<body>" * 50_000 + '<geom size="1"/>' + "</body>" * 50_000),
    model("", '<include file="a.xml"/>' + BODY),
    model("", '<include file="/dev/zero"/>' + BODY),
    model("", '<include file="large.xml"/>' + BODY),
    model('<texture name="t" type="2d" builtin="flat" width="100000" height="100000"/>'),
    model('<mesh name="m" file="/dev/zero" content_type="model/stl"/>'),
    model('<hfield name="h" file="/dev/zero" size="1 1 1 1"/>'),
    model("", '<body><flexcomp name="f" type="grid" count="3000 3000 3000" dim="3"/></body>'),
    model("", '<body name="b"><joint/><geom type="box" size="1e308 nan -1"/></body>'),
)
LOG = "crosscheck {} --robot {}/hinge.urdf --json"


def mjcf(rng: Random, seeds: Path) -> Case:
    """An MJCF file, or what it includes."""
    Path("part.xml").write_text(PART)
    draw = rng.random()
    if draw < 0.1:
        bombs = [*XML_BOMBS, *(text.encode for text in MJCF_BOMBS), BOMBS[".xml"][0].__bytes__]
        Path("a.xml").write_bytes(rng.choice(bombs)())
        Path("large.xml").symlink_to(seeds / "large")
    elif draw < 0.8:
        place(rng, "a.xml", GOOD_MJCF.encode(), text=True)
    else:
        new = PART.encode() if rng.random() < 0.9 else b"\n" * 20_000_000
        Path("a.xml").write_text(GOOD_MJCF)
        Path("part.xml").unlink()
        place(rng, "part.xml", new, text=True, waits=False)
    words = ("check a.xml --json", RUN.format("a.xml --out o --engine mujoco"))
    return Case("MJCF", shlex.split(rng.choice((*words, RUN.format("a.xml --out o")))))


def log(rng: Random, seeds: Path) -> Case:
    """A log of another simulator, or something else under its name."""
    ending = rng.choice(("csv", "csv", "npz", "tsv", "txt"))
    name = f"log.{ending}"
    draw = rng.random()
    if draw < 0.1:
        spoil(name, rng.choice(("fifo", "device", "folder", "loop", "missing")))
    elif draw < 0.2:
        lines = b"t,q/hinge,effort/hinge\n" + b"1," * 3_000_000, b"t,q/hinge\n" * 2_000_000
        Path(name).write_bytes(rng.choice((*BOMBS[".npz"], *GARBAGE.values(), *lines)))
    elif draw < 0.22:
        Path(name).symlink_to(seeds / "large")
    else:
        data = (seeds / ("log.npz" if ending == "npz" else "log.csv")).read_bytes()
        if ending in ("tsv", "txt"):
            data = data.replace(b",", b"\t" if ending == "tsv" else b" ")
        place(rng, name, data, text=ending != "npz", waits=True)
    words = shlex.split(LOG.format(name, seeds))
    if rng.random() < 0.2:
        maps = ("q/hinge=effort/hinge", "q/hinge=-x", "hinge", "=", "q/none=q/hinge", "*=*")
        words += ["--map", rng.choice(maps)]
    return Case("log", words)
