"""How far meshes reach: alike in each format, by hand."""

from pathlib import Path

import numpy as np
import pytest
from roboaccord.description.urdf_file import UrdfFile
from roboaccord_files.repair.extents import mesh_extent
from roboaccord_files.repair.meshes import large_meshes

CORNERS = np.array([[0.0, 0.0, 0.0], [0.2, 0.0, 0.0], [0.0, 0.3, -0.4]])
FACET = "facet normal 0 0 1\n outer loop\n{} endloop\nendfacet\n"
DAE = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset>{unit}<up_axis>Z_UP</up_axis></asset>
<library_geometries><geometry id="g"><mesh>
<source id="n"><float_array id="na" count="3">0 0 9</float_array></source>
<source id="p"><float_array id="pa" count="9">{points}</float_array>
<technique_common><accessor source="#pa" count="3" stride="3"/></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="1"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2</p></triangles>
</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node>{outer}<node>{inner}
<instance_geometry url="#g"/></node></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>"""


def words(points) -> str:
    return " ".join(map(str, points.ravel()))


def stl(ascii_text: bool) -> bytes:
    if ascii_text:
        lines = "".join(f"  vertex {words(corner)}\n" for corner in CORNERS)
        return f"solid x\n{FACET.format(lines)}endsolid x\n".encode()
    numbers = np.concatenate([[[0.0, 0.0, 1.0]], CORNERS]).astype("<f4").tobytes()
    return b"solid x".ljust(80) + (1).to_bytes(4, "little") + numbers + bytes(2)


def dae(unit: str = "", outer: str = "", inner: str = "", size: float = 1.0) -> bytes:
    text = DAE.format(unit=unit, outer=outer, inner=inner, points=words(size * CORNERS))
    return text.encode()


MILLIMETRES = '<unit name="millimeter" meter="0.001"/>'
MATRIX = "<matrix>0.5 0 0 0  0 0 -0.5 0  0 0.5 0 0  0 0 0 1</matrix>"
FORMS = {
    "binary.stl": (stl(ascii_text=False), 1.0),
    "text.stl": (stl(ascii_text=True), 1.0),
    "lines.obj": (("".join(f"v {words(c)}\n" for c in CORNERS) + "vn 0 0 9\n").encode(), 1.0),
    "other.off": (
        ("OFF\n3 1 0\n" + "".join(f"{words(c)}\n" for c in CORNERS) + "3 0 1 2\n").encode(),
        1.0,
    ),
    "metres.dae": (dae(), 1.0),
    "millimetres.dae": (dae(MILLIMETRES, size=1000.0), 1.0),
    "scaled.dae": (dae(MILLIMETRES, "<scale>2 2 2</scale>", MATRIX), 1e-3),
    "turned.dae": (dae(outer='<rotate sid="x">1 0 0 90</rotate>'), 1.0),
}


@pytest.mark.parametrize("name", FORMS)
def test_how_far_a_mesh_reaches(tmp_path: Path, name: str):
    data, scale = FORMS[name]
    path = tmp_path / name
    path.write_bytes(data)
    found = mesh_extent(path)
    np.testing.assert_allclose(found[:2], [0.4 * scale, 0.5 * scale], rtol=1e-7)


def test_a_node_moves_what_is_below_it_after_its_own_scale(tmp_path: Path):
    """2 (p + 1) along x: at 0.2 m that is 2.4 m."""
    path = tmp_path / "moved.dae"
    path.write_bytes(dae("", "<scale>2 2 2</scale>", "<translate>1 0 0</translate>"))
    assert mesh_extent(path).coordinate == pytest.approx(2.4)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.stl", b"solid nothing"),
        ("a.dae", b"<COLLADA>"),
        ("a.dae", dae().replace(b"0.2", b"zero")),
        ("a.obj", b"v 1 nan 0\n"),
        ("a.glb", b"no mesh"),
    ],
)
def test_what_cannot_be_read_has_no_extent(tmp_path: Path, name: str, data: bytes):
    (tmp_path / name).write_bytes(data)
    assert mesh_extent(tmp_path / name) is None


@pytest.mark.parametrize("name", ["text.stl", "metres.dae"])
def test_a_mesh_in_millimetres_is_named(tmp_path: Path, name: str):
    """200 to 400 m on a robot of 1 m; a DAE whose unit is wrong."""
    data = stl(ascii_text=True).replace(b"0.4", b"400.0") if "stl" in name else dae(size=1000.0)
    (tmp_path / name).write_bytes(data)
    text = (
        f'<robot name="r"><link name="a"><visual><geometry><mesh filename="{name}"/></geometry>'
        '</visual></link><link name="b"/><joint name="j" type="fixed"><origin xyz="1 0 0"/>'
        '<parent link="a"/><child link="b"/></joint></robot>'
    )
    file = UrdfFile(tmp_path / "r.urdf", "r", text)
    assert large_meshes(file) == ("a",)
    if name == "metres.dae":
        (tmp_path / name).write_bytes(dae(MILLIMETRES, size=1000.0))
        assert large_meshes(file) == ()
