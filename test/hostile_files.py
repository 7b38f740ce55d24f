"""Every reader on every hostile file, in this process: python hostile_files.py FOLDER KIND...

The kinds are those that `cases` yields.

Each line that it prints is a case, and how that ended, in JSON: [row of the table, case, outcome].
"""

from __future__ import annotations

import io
import json
import os
import resource
import struct
import sys
import traceback
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import zstandard
from roboaccord.bag.reader import read_run
from roboaccord.cli.folder import MARKER, Marker
from roboaccord.cli.keys import read_key_map
from roboaccord.contract.errors import AccordError
from roboaccord.contract.files import read_xml
from roboaccord.contract.plugins import lacking, load
from roboaccord.description.meshes import FORMATS, read_mesh, read_parts
from roboaccord.description.urdf_file import read_urdf
from roboaccord.description.yaml_files import read_yaml
from roboaccord.engines.formats import read_robot
from voxel_sphere.terrain.slices import read_volume

MEMORY = 8 << 30  # bytes of address space
LARGE = 300_000_000  # bytes, more than any reader takes as a whole

LAUGHS = '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa">' + "".join(
    f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefghi", "bcdefghij")
)
ALIASES = "a0: &a0 [1,1,1,1,1,1,1,1,1]\n" + "".join(
    f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 10)
)


GARBAGE = {
    "zeros": bytes(999),
    "bytes": bytes(np.random.default_rng(0).integers(0, 256, 999, dtype=np.uint8)),
    "deep": b"[" * 20_000,
    "deep xml": b"<a>" * 20_000,
    "quotes": b'a,"' + b"b" * 200_000,
    "letters": b"a,b\n" * 9,
}


class Spoilt(NamedTuple):
    """Name a file to spoil, what reads it, what is put beside it, and the garbage that is tried.

    What is `optional` may be left out by its reader: then what names it is read without it.
    """

    name: str
    read: Callable[[Path], Any]
    beside: Mapping[str, str] = MappingProxyType({})
    optional: bool = False
    garbage: Sequence[str] = (*GARBAGE, "bomb")


def spoilt(named: str, whole: str, text: str, read: Callable[[Path], Any], **more: Any) -> Spoilt:
    """Return a file that another one names, which is read."""
    beside = {**more.pop("beside", {}), whole: text}
    return Spoilt(named, lambda path: read(path.with_name(whole)), beside, **more)


def results(path: Path) -> None:
    """Open a study's results, which were another study's; refused where no package has studies."""
    if not find_spec("roboaccord_studies"):
        raise AccordError("there are no studies")
    import_module("roboaccord_studies.results_file").ResultsFile(path, {}).close()


def in_folder(read: Callable[[Path], Any]) -> Callable[[Path], Any]:
    """Return what reads the folder of a file."""
    return lambda path: read(path.parent)


def with_mesh(path: Path) -> None:
    """Read a robot whose mesh is of a package that may be above it."""
    read_robot(path).find("package://no_such_package/m.stl")


ROBOT = '<robot name="r"><link name="a"/></robot>'
MATERIAL = {"part.mtl": "newmtl m\nmap_Kd part.png\n"}
XACRO = '<robot xmlns:xacro="http://ros.org/xacro" name="r"><link name="a"/>{}</robot>'
INCLUDE = XACRO.format('<xacro:include filename="part.xacro"/>')
LOADS = XACRO.format("<link name=\"${xacro.load_yaml('part.yaml')['a']}\"/>")
OBJ = "mtllib part.mtl\nusemtl m\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nf 1/1 2/1 3/1\n"
GLTF = json.dumps(
    {
        "asset": {"version": "2.0"}, "buffers": [{"uri": "part.bin", "byteLength": 36}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}], "nodes": [{"mesh": 0}],
        "scenes": [{"nodes": [0]}], "scene": 0,
    }
)  # fmt: skip


def log_of(path: Path) -> Any:
    """Read the log of a robot of one joint; refused where no package reads logs."""
    if line := lacking("functions", "crosscheck.LOG"):
        raise AccordError(line)
    return import_module("roboaccord_files.logs.log").read_log(path, ["j"], {})


def world_of(path: Path) -> Any:
    """Check a world; refused where no package does."""
    if line := lacking("commands", "check"):
        raise AccordError(line)
    return import_module("roboaccord_files.gazebo.check").check_file(path, [])


def trajectory_of(path: Path) -> Any:
    """Read a trajectory to follow; refused where no package follows one."""
    if line := lacking("controllers", "roboaccord.follow"):
        raise AccordError(line)
    return import_module("roboaccord_files.logs.follow").read_trajectory_file(path)


def identified(path: Path) -> object:
    """Read what was identified of an arm, by the package that does."""
    return load("controllers", "packbot.identified").read(path)


FEW = ("bytes", "bomb")
MESHES = "mesh (OBJ, STL, DAE, PLY, OFF, GLB, glTF), its textures and buffers"
READERS: Mapping[str, Sequence[Spoilt]] = {
    "scenario, parameters, key map, terrain settings (YAML)": [
        Spoilt("a.yaml", read_yaml),
        Spoilt("keys.yaml", read_key_map),
    ],
    "URDF, SDF, package.xml, model.config": [
        Spoilt("a.urdf", read_urdf),
        Spoilt("a.sdf", read_robot),
        Spoilt("world.sdf", world_of),
        Spoilt("model.config", read_xml),
        spoilt("package.xml", "a.urdf", ROBOT, with_mesh, optional=True),
    ],
    "MJCF and SDF, converted in a process of its own": [Spoilt("a.xml", read_robot)],
    "xacro and what it includes, expanded in a process of its own": [
        Spoilt("a.xacro", read_urdf, garbage=FEW),
        spoilt("part.xacro", "whole.xacro", INCLUDE, read_urdf, garbage=()),
        spoilt("part.yaml", "whole.xacro", LOADS, read_urdf, garbage=()),
    ],
    MESHES: [
        *(Spoilt(f"whole{end}", read_mesh) for end in FORMATS),
        *(Spoilt(f"parts{end}", read_parts) for end in FORMATS),
        spoilt("part.mtl", "whole.obj", OBJ, read_parts, optional=True),
        spoilt("part.png", "whole.obj", OBJ, read_parts, optional=True, beside=MATERIAL),
        spoilt("part.bin", "whole.gltf", GLTF, read_parts, optional=True),
    ],
    "bag (MCAP, sqlite3, either in zstd)": [
        *(Spoilt(f"a{end}", read_run) for end in (".mcap", ".db3", ".mcap.zstd", ".db3.zstd")),
        *(Spoilt(f"in_folder{end}", in_folder(read_run)) for end in (".mcap", ".db3")),
        Spoilt("metadata.yaml", in_folder(read_run)),
    ],
    "log (CSV, TXT, TSV, NPZ)": [
        Spoilt(f"a{end}", log_of) for end in (".csv", ".txt", ".tsv", ".npz")
    ],
    "log (MAT, Parquet), in a process of its own": [
        Spoilt(f"a{end}", log_of) for end in (".mat", ".parquet")
    ],
    "trajectory to follow (CSV, YAML)": [
        Spoilt(f"a{end}", trajectory_of) for end in (".csv", ".yaml")
    ],
    "results of a study": [Spoilt("a.jsonl", results)],
    "identified arm (JSON)": [Spoilt("a.json", identified)],
    "slice of a volume (PNG)": [
        Spoilt("s_0.png", in_folder(lambda folder: read_volume(folder, 1)))
    ],
    "`.roboaccord.json` of a folder": [Spoilt(MARKER, in_folder(Marker.of), optional=True)],
}
"""Readers by row of the table in docs/robustness.md."""


def fifo(path: Path) -> None:
    os.mkfifo(path)


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def folder(path: Path) -> None:
    path.mkdir()


def large(path: Path) -> None:
    path.touch()
    os.truncate(path, LARGE)


def zeros(size: int) -> bytes:
    """Return zeros in a frame of zstd."""
    return zstandard.ZstdCompressor(level=1).compress(bytes(size))


def chunk(size: int) -> bytes:
    """Return an MCAP file whose only chunk unpacks to a size."""
    packed = zeros(size)
    head = struct.pack("<QQQII", 0, 0, size, 0, 4) + b"zstd" + struct.pack("<Q", len(packed))
    return b"\x89MCAP0\r\n" + struct.pack("<BQ", 6, len(head + packed)) + head + packed


def npz(shape: str, stated: int = 0) -> bytes:
    """Return an NPZ file whose array is too short for its shape, or whose index states a size."""
    array, file = io.BytesIO(), io.BytesIO()
    np.save(array, np.zeros(2))
    data = array.getvalue().replace(b"(2,), }", f"{shape}, }}".encode()).ljust(144)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("t.npy", data)
    data = file.getvalue()
    if stated:
        at = data.rindex(b"PK\x01\x02") + 24
        data = data[:at] + struct.pack("<I", stated) + data[at + 4 :]
    return data


def mat(count: int) -> bytes:
    """Return a MAT file whose compressed array is shorter than the size that it states."""
    array = struct.pack("<IIIIII", 14, 8 * count + 56, 6, 8, 6, 0)  # a matrix: flags of doubles
    array += struct.pack("<IIiiI4sII", 5, 8, 1, count, 0x10001, b"t", 9, 8 * count) + bytes(80)
    packed = zlib.compress(array)
    head = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<H", 0x0100) + b"IM"
    return head + struct.pack("<II", 15, len(packed)) + packed


def glb(count: int) -> bytes:
    """Return a GLB file of vertices that its header states alone."""
    scene = json.loads(GLTF)
    scene["accessors"][0] = {"componentType": 5126, "count": count, "type": "VEC3"}
    del scene["buffers"], scene["bufferViews"]
    text = json.dumps(scene).encode()
    text += b" " * (-len(text) % 4)
    return struct.pack("<4sIIII", b"glTF", 2, 20 + len(text), len(text), 0x4E4F534A) + text


def png(n: int) -> bytes:
    """Return a PNG file of n x n pixels."""

    def part(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    head = part(b"IHDR", struct.pack(">IIBBBBB", n, n, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + part(b"IDAT", zlib.compress(b"\0")) + part(b"IEND", b"")


SIZE = (1 << 26) + 1  # bytes that a bag may not unpack to
BOMBS: Mapping[str, list[bytes]] = {
    ".yaml": [ALIASES.encode()],
    ".urdf": [(LAUGHS + ']><robot name="&j;"><link name="a"/></robot>').encode()],
    ".sdf": [(LAUGHS + ']><sdf version="1.9"><model name="&j;"/></sdf>').encode()],
    ".xml": [(LAUGHS + ']><mujoco model="&j;"/>').encode()],
    ".xacro": [(LAUGHS + "]>" + XACRO.format('<link name="&j;"/>')).encode()],
    ".dae": [(LAUGHS + "]><COLLADA>&j;</COLLADA>").encode()],
    ".stl": [bytes(80) + struct.pack("<I", 2**32 - 1) + bytes(50)],
    ".ply": [
        f"ply\nformat {form}\nelement vertex 4000000000\nproperty float x\nproperty float y\n"
        "property float z\nelement face 4000000000\nproperty list uchar int vertex_indices\n"
        "end_header\n".encode()
        + bytes(64)
        for form in ("ascii 1.0", "binary_little_endian 1.0")
    ],
    ".off": [b"OFF\n4000000000 4000000000 0\n0 0 0\n"],
    ".glb": [glb(2**31 - 1), glb(4 * 10**8)], ".gltf": [glb(4 * 10**8)[20:]],
    ".npz": [
        npz("(2,)", 3_000_000_000), npz("(10**12,)".replace("10**12", str(10**12))),
        npz("(999999999,)"),
    ],
    ".png": [png(60_000)], ".mcap": [chunk(SIZE)], ".mcap.zstd": [zeros(SIZE)],
    ".db3.zstd": [zeros(SIZE)], ".json": [b'{"unknowns": ' + b'{"a":' * 100_000],
    ".jsonl": [b"[" * 1_000_000], ".mat": [mat(2**28 - 8)],
}  # fmt: skip


def cases(file: Spoilt) -> Iterator[tuple[str, Callable[[Path], object]]]:
    """Yield what is put in the place of a file, with its name."""
    for put in (fifo, device, folder, large):
        yield put.__name__, put
    end = file.name.removeprefix(Path(file.name).name.partition(".")[0])
    bombs = {f"bomb {i}": data for i, data in enumerate(BOMBS.get(end, []))}
    for label, data in {**GARBAGE, **bombs}.items():
        if label.partition(" ")[0] in file.garbage or label in file.garbage:
            yield label, partial(Path.write_bytes, data=data)


def outcome(file: Spoilt, path: Path) -> str:
    """Return "refused", "read", or what is wrong: a message of several lines, or a traceback."""
    try:
        file.read(path)
    except AccordError as error:
        return "refused" if len(str(error).splitlines()) == 1 else str(error)
    except BaseException:
        return traceback.format_exc()
    return "left out" if file.optional else "read"


def main() -> None:
    """Try them all; what comes without an outcome is the one that has no end."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    top = Path(sys.argv[1])
    for row, readers in READERS.items():
        for file in readers:
            for label, put in cases(file):
                if label.partition(" ")[0] not in sys.argv[2:]:
                    continue
                name = f"{file.name}, {label}"
                path = top / str(len(list(top.iterdir()))) / file.name
                path.parent.mkdir()
                for other, text in file.beside.items():
                    path.with_name(other).write_text(text, encoding="utf-8")
                put(path)
                print(json.dumps([row, name, ""]), flush=True)
                print(json.dumps([row, name, outcome(file, path)]), flush=True)
    # Not ru_maxrss, which begins with what the process had that started this one.
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    peak = int(status.partition("VmHWM:")[2].split()[0])
    print(json.dumps(["memory", "peak", str(1024 * peak)]))


if __name__ == "__main__":
    main()
