"""Workspaces of slices: what is read, and one line for each thing that is wrong with the files."""

import shutil
import struct
import zlib

import numpy as np
import pytest
from PIL import Image
from roboaccord.contract.errors import AccordError
from voxel_sphere.terrain.generate import Part, write_workspace
from voxel_sphere.terrain.slices import SIGNATURE, read_volume, write_volume
from voxel_sphere.terrain.workspace import open_workspace

N = 20


def ball(n=N, radius=2.0):
    """Return the source's robot: voxels whose centres are in the sphere on (n/2, n/2, 0)."""
    x, y, z = np.indices((n, n, n)) + 0.5
    inside = (x - n / 2) ** 2 + (y - n / 2) ** 2 + (z - radius) ** 2 < radius**2
    return inside.astype(np.uint8) * 255


def ground(n=N, height=5):
    """Return level ground."""
    volume = np.zeros((n, n, n), np.uint8)
    volume[:, :, :height] = 255
    return volume


def save(folder, volume):
    """Write slices as somebody else's program would: by rows, with names of its own."""
    folder.mkdir(parents=True)
    for k in range(volume.shape[2]):
        Image.fromarray(volume[:, :, k].T.copy()).save(folder / f"Slice{k}.png")


@pytest.fixture
def foreign(tmp_path):
    """Return a workspace that was not made here: robot and one surface, no workspace.yaml."""
    folder = tmp_path / "mine" / f"Bitmaps_{N}"
    save(folder / "Sphere_robot", ball())
    save(folder / "Floor", ground())
    return folder


def test_axes_are_column_row_and_number_of_the_slice(tmp_path):
    for k in range(N):
        Image.fromarray(np.zeros((N, N), np.uint8)).save(tmp_path / f"a{k}.png")
    picture = Image.new("L", (N, N))
    picture.putpixel((3, 5), 200)  # column, row
    picture.save(tmp_path / "a7.png")
    volume = read_volume(tmp_path, N)
    assert np.argwhere(volume).tolist() == [[3, 5, 7]]
    assert volume[3, 5, 7] == 200


@pytest.mark.parametrize("first", [0, 1])
def test_numbers_run_from_0_or_as_matlab_counts_from_1(tmp_path, first):
    for k in range(N):
        picture = Image.new("1", (N, N), k == 4)
        picture.save(tmp_path / f"slice_{k + first:04d}.png")
    assert np.flatnonzero(read_volume(tmp_path, N).any(axis=(0, 1))).tolist() == [4]


PICTURES = {
    "one bit": lambda picture: picture.convert("1"),
    "ones": lambda picture: picture.point(lambda value: value // 255),
    "colours": lambda picture: picture.convert("RGB"),
    "palette": lambda picture: picture.convert("P"),
    "sixteen bits": lambda p: Image.fromarray(np.asarray(p).astype(np.uint16) * 257),
}


@pytest.mark.parametrize("change", PICTURES.values(), ids=PICTURES)
def test_every_kind_of_png_is_one_volume(tmp_path, change):
    volume = ball()
    for k in range(N):
        change(Image.fromarray(volume[:, :, k].T.copy())).save(tmp_path / f"{k}.png")
    assert (read_volume(tmp_path, N) == volume).all()


def test_grey_is_kept(tmp_path):
    volume = np.random.default_rng(1).integers(0, 256, (N, N, N), dtype=np.uint8)
    write_volume(tmp_path / "grey", volume)
    assert (read_volume(tmp_path / "grey", N) == volume).all()


def test_a_foreign_workspace(foreign, figures):
    """The lattice points in a ball of radius 2 about a corner of voxels are 32; 4/3 pi r^3 = 32."""
    save(foreign / "nested" / "Brick_walls", ground())
    save(foreign / "whole_workspace", ground())
    found = figures("list mine")
    assert list(found) == ["path", "n", "radius", "size_workspace", "voxel_size", "volumes"]
    assert found["radius"] == pytest.approx((32 * 0.75 / np.pi) ** (1 / 3))
    assert {row["name"]: row["kind"] for row in found["volumes"]} == {
        "Floor": "surface",
        "Sphere_robot": "robot",
        "nested/Brick_walls": "walls",
        "whole_workspace": "workspace",
    }
    assert {row["name"]: row["z"] for row in found["volumes"]}["Floor"] == [0, 5]


def test_terrains(foreign):
    """Unnamed volumes are chosen where there is one choice; the union has ground and walls."""
    save(foreign / "Left_wall", np.roll(ground(), 5, axis=2))
    workspace = open_workspace(foreign)
    terrain = workspace.terrain()
    assert (terrain.name, terrain.grey) == ("Floor+Left_wall", False)
    assert (terrain.solid == ground(height=10)).all()
    assert workspace.terrain(surface="Floor").walls is None
    save(foreign / "Other", ground())
    with pytest.raises(AccordError, match="which one"):
        open_workspace(foreign).terrain()


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height, *, extra=b"", rows=b""):
    """Return a 1-bit PNG of any size, whether or not its rows are there."""
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0))
    return SIGNATURE + head + extra + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def third(folder):
    return folder / "Floor" / "Slice3.png"


def rewrite(name):
    """Return what gives a slice another name."""
    return lambda folder: third(folder).rename(folder / "Floor" / name)


def slice_of(*size, **parts):
    """Return what puts a PNG of any size in the place of a slice."""
    return lambda folder: third(folder).write_bytes(png(*size, **parts))


def blacken(folder):
    for path in (folder / "Floor").iterdir():
        Image.new("1", (N, N)).save(path)


def robot_of(volume):
    """Return what makes a volume the robot."""

    def spoil(folder):
        shutil.rmtree(folder / "Sphere_robot")
        save(folder / "Sphere_robot", volume)

    return spoil


def settings_of(text):
    """Return what writes the settings of a workspace."""
    return lambda folder: (folder / "workspace.yaml").write_text(f"{text}\n")


TEXT = chunk(b"zTXt", b"a\0\0" + zlib.compress(bytes(100_000_000)))
SPOILT = {
    "19 slices, and not 20": lambda folder: third(folder).unlink(),
    "slice 3 is missing": rewrite("Slice33.png"),
    "Slice04.png and Slice4.png are one slice": rewrite("Slice04.png"),
    "ends with its number": rewrite("Slice.png"),
    "20 x 21 pixels, and not 20 x 20": slice_of(N, N + 1),
    "300000 x 300000 pixels, and not 20 x 20": slice_of(
        300_000, 300_000, rows=zlib.compress(bytes(10_000_000))
    ),
    "cannot read": slice_of(N, N, extra=TEXT, rows=zlib.compress(bytes(80))),
    "it is larger than 1 MB": slice_of(N, N, extra=chunk(b"tEXt", bytes(5_000_000))),
    "cannot read ": lambda folder: third(folder).write_bytes(third(folder).read_bytes()[:50]),
    "not a PNG file": lambda folder: third(folder).write_bytes(b"GIF89a" + bytes(50)),
    "it has colours": lambda f: Image.new("RGB", (N, N), (255, 0, 0)).save(third(f)),
    "so it is empty": blacken,
    "0 robots": lambda folder: (folder / "Sphere_robot").rename(folder / "robot"),
    "it is empty": robot_of(np.zeros((N, N, N), np.uint8)),
    "not a sphere within one voxel": robot_of(np.pad(np.full((8, 8, 8), 255, np.uint8), 6)),
    "larger than the grid": robot_of(ball(radius=11.0)),
    "radius of 1.97 voxels, where size_workspace 5 in workspace.yaml makes it 4": settings_of(
        "size_workspace: 5"
    ),
    "unknown key voxelsize": settings_of("voxelsize: 1"),
    "voxel_size is -1": settings_of("voxel_size: -1"),
    "which one of Bitmaps_20, Bitmaps_50": lambda f: (f.parent / "Bitmaps_50").mkdir(),
    "n is 512; grids are of 8 to 256 voxels": lambda f: f.rename(f.parent / "Bitmaps_512"),
    "no folder Bitmaps_n": lambda folder: folder.rename(folder.parent / "pictures"),
}


@pytest.mark.parametrize("line", SPOILT)
def test_what_is_wrong_with_files_is_one_line(foreign, complaint, line):
    SPOILT[line](foreign)
    assert line in complaint("list mine --json")


def test_a_workspace_that_is_not_there_is_one_line(complaint):
    assert "no such folder" in complaint("list nowhere")


def test_nothing_is_written_half(tmp_path):
    """Whatever stops it, and wherever, a workspace is there or is not."""

    def stop_after(count):
        steps = iter(range(count))

        def done(_):
            if next(steps, None) is None:
                raise KeyboardInterrupt

        return done

    part = Part("floor", "surface", ground())
    for count in (0, 25, 39):  # filling the robot, and writing either volume
        with pytest.raises(KeyboardInterrupt):
            write_workspace(tmp_path, N, [part], done=stop_after(count))
        assert list(tmp_path.iterdir()) == []
    write_workspace(tmp_path, N, [part])
    before = sorted(tmp_path.rglob("*"))
    other = Part("floor", "surface", ground(height=7))
    with pytest.raises(KeyboardInterrupt):
        write_workspace(tmp_path, N, [other], replace=True, done=stop_after(10))
    assert sorted(tmp_path.rglob("*")) == before
    workspace = open_workspace(tmp_path)
    assert (workspace.volume("floor") == ground()).all()
    with pytest.raises(AccordError, match="is there already"):
        write_workspace(tmp_path, N, [other])
    replaced = write_workspace(tmp_path, N, [other], replace=True)
    assert (replaced.volume("floor") == other.volume).all()
