"""Workspaces of slices: what is read, and one line for each thing that is wrong with the files."""

import struct
import zlib

import numpy as np
import pytest
from PIL import Image
from roboaccord.contract.errors import AccordError
from voxel_sphere.terrain.generate import Part, place
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


def as_one_bit(picture):
    return picture.convert("1")


def as_ones(picture):
    return picture.point(lambda value: value // 255)


def as_colours(picture):
    return picture.convert("RGB")


def as_palette(picture):
    return picture.convert("P")


def as_sixteen_bits(picture):
    return Image.fromarray(np.asarray(picture).astype(np.uint16) * 257)


@pytest.mark.parametrize(
    "change",
    [as_one_bit, as_ones, as_colours, as_palette, as_sixteen_bits],
    ids=lambda f: f.__name__,
)
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


def replace_slice(folder, data):
    (folder / "Floor" / "Slice3.png").write_bytes(data)


def no_slice(folder):
    (folder / "Floor" / "Slice3.png").unlink()


def gap(folder):
    (folder / "Floor" / "Slice3.png").rename(folder / "Floor" / "Slice33.png")


def twice(folder):
    (folder / "Floor" / "Slice3.png").rename(folder / "Floor" / "Slice04.png")


def nameless(folder):
    (folder / "Floor" / "Slice3.png").rename(folder / "Floor" / "Slice.png")


def other_size(folder):
    replace_slice(folder, png(N, N + 1))


def huge(folder):
    replace_slice(folder, png(300_000, 300_000, rows=zlib.compress(bytes(10_000_000))))


def huge_text(folder):
    text = chunk(b"zTXt", b"a\0\0" + zlib.compress(bytes(100_000_000)))
    replace_slice(folder, png(N, N, extra=text, rows=zlib.compress(bytes(80))))


def huge_file(folder):
    replace_slice(folder, png(N, N, extra=chunk(b"tEXt", bytes(5_000_000))))


def cut_off(folder):
    path = folder / "Floor" / "Slice3.png"
    path.write_bytes(path.read_bytes()[:50])


def no_png(folder):
    replace_slice(folder, b"GIF89a" + bytes(50))


def coloured(folder):
    Image.new("RGB", (N, N), (255, 0, 0)).save(folder / "Floor" / "Slice3.png")


def black(folder):
    for path in (folder / "Floor").iterdir():
        Image.new("1", (N, N)).save(path)


def rewrite_robot(folder, volume):
    for path in (folder / "Sphere_robot").iterdir():
        path.unlink()
    (folder / "Sphere_robot").rmdir()
    save(folder / "Sphere_robot", volume)


def no_robot(folder):
    (folder / "Sphere_robot").rename(folder / "robot")


def black_robot(folder):
    rewrite_robot(folder, np.zeros((N, N, N), np.uint8))


def cube_robot(folder):
    rewrite_robot(folder, np.pad(np.full((8, 8, 8), 255, np.uint8), 6))


def large_robot(folder):
    rewrite_robot(folder, ball(radius=11.0))


def other_robot(folder):
    (folder / "workspace.yaml").write_text("size_workspace: 5\n")


def unknown_key(folder):
    (folder / "workspace.yaml").write_text("voxelsize: 1\n")


def no_length(folder):
    (folder / "workspace.yaml").write_text("voxel_size: -1\n")


def two(folder):
    (folder.parent / "Bitmaps_50").mkdir()


def too_fine(folder):
    folder.rename(folder.parent / "Bitmaps_512")


def no_bitmaps(folder):
    folder.rename(folder.parent / "pictures")


@pytest.mark.parametrize(
    ("spoil", "line"),
    [
        (no_slice, "19 slices, and not 20"),
        (gap, "slice 3 is missing"),
        (twice, "Slice04.png and Slice4.png are one slice"),
        (nameless, "ends with its number"),
        (other_size, "20 x 21 pixels, and not 20 x 20"),
        (huge, "300000 x 300000 pixels, and not 20 x 20"),
        (huge_text, "cannot read"),
        (huge_file, "it is larger than 1 MB"),
        (cut_off, "cannot read"),
        (no_png, "not a PNG file"),
        (coloured, "it has colours"),
        (black, "so it is empty"),
        (no_robot, "0 robots"),
        (black_robot, "so it is empty"),
        (cube_robot, "not a sphere within one voxel"),
        (large_robot, "larger than the grid"),
        (other_robot, "radius of 1.97 voxels, where size_workspace 5 in workspace.yaml makes it 4"),
        (unknown_key, "unknown key voxelsize"),
        (no_length, "voxel_size is -1"),
        (two, "which one of Bitmaps_20, Bitmaps_50"),
        (too_fine, "8 to 256 voxels, not of 512"),
        (no_bitmaps, "no folder Bitmaps_n"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_is_wrong_with_files_is_one_line(foreign, complaint, spoil, line):
    spoil(foreign)
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
            place(tmp_path, N, [part], done=stop_after(count))
        assert list(tmp_path.iterdir()) == []
    place(tmp_path, N, [part])
    before = sorted(tmp_path.rglob("*"))
    other = Part("floor", "surface", ground(height=7))
    with pytest.raises(KeyboardInterrupt):
        place(tmp_path, N, [other], replace=True, done=stop_after(10))
    assert sorted(tmp_path.rglob("*")) == before
    workspace = open_workspace(tmp_path)
    assert (workspace.volume("floor") == ground()).all()
    with pytest.raises(AccordError, match="is there already"):
        place(tmp_path, N, [other])
    assert (place(tmp_path, N, [other], replace=True).volume("floor") == other.volume).all()
