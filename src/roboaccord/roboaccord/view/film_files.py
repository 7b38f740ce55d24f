"""Write a film: as H.264 in MP4, by ffmpeg, or as a GIF."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from PIL import Image
from scipy.spatial.distance import cdist

from roboaccord.contract.contact import Index
from roboaccord.contract.errors import AccordError
from roboaccord.contract.files import writing
from roboaccord.numerics.jit import kernel
from roboaccord.view.film import Film, Progress
from roboaccord.view.ground import TRACE
from roboaccord.view.raster import Picture

INSTALL = "--mp4 needs ffmpeg, which is not on PATH; run: apt-get install ffmpeg"
COLOURS = 128  # as many as 7 bits distinguish
SAMPLES = 6  # pictures that the palette is chosen from
FASTEST = 50  # pictures a second; GIF holds times in 0.01 s, and players slow down below 0.02 s


def find_ffmpeg(size: tuple[int, int]) -> str:
    """Return where ffmpeg is, if it can write pictures of a size.

    Raises:
        AccordError: if it is not on PATH, or for odd sides: H.264 halves its colours.
    """
    if size[0] % 2 or size[1] % 2:
        raise AccordError(f"size is {size[0]}x{size[1]}; an MP4 needs even sides")
    found = shutil.which("ffmpeg")
    if found is None:
        raise AccordError(INSTALL)
    return found


def write_mp4(film: Film, path: Path, progress: Progress | None = None) -> None:
    """Write an MP4.

    Args:
        film: what it shows.
        path: of the file to write.
        progress: called with the number of pictures done and to do.

    Raises:
        AccordError: without ffmpeg, for an odd size, or if ffmpeg cannot write it.
    """
    width, height = film.size
    command = [find_ffmpeg(film.size), "-loglevel", "error", "-y"]
    command += ["-f", "rawvideo", "-pix_fmt", "rgb24"]
    command += ["-video_size", f"{width}x{height}", "-framerate", f"{film.fps:g}", "-i", "pipe:0"]
    command += ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-movflags", "+faststart"]
    with writing(path, ".mp4") as draft:
        _encode([*command, "-f", "mp4", f"file:{draft}"], film, progress, path)


def _encode(command: Sequence[str], film: Film, progress: Progress | None, path: Path) -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stderr=pipe) as done:
        assert done.stdin and done.stderr
        try:
            for picture in film.pictures(progress):
                done.stdin.write(picture.tobytes())
            done.stdin.close()
        except BrokenPipeError:  # ffmpeg has given up; it reports why
            pass
        lines = done.stderr.read().decode(errors="replace").strip().splitlines()
    if done.returncode:
        reason = lines[-1].rpartition(": ")[2] if lines else "ffmpeg failed"
        raise AccordError(f"cannot write {path}: {reason}")


def write_gif(film: Film, path: Path, progress: Progress | None = None) -> None:
    """Write a GIF.

    Args:
        film: what it shows.
        path: of the file to write.
        progress: called with the number of pictures done and to do.

    Raises:
        AccordError: for too many pictures a second, or a file that cannot be written.
    """
    if film.fps > FASTEST:
        raise AccordError(f"fps is {film.fps:g}; a GIF shows {FASTEST} pictures a second at most")
    ends = np.round(100.0 * np.arange(len(film) + 1) / film.fps)
    frames = _indexed(film, progress)
    with writing(path, ".gif") as draft:
        next(frames).save(
            draft,
            format="GIF",
            save_all=True,
            append_images=frames,
            duration=[int(10 * d) for d in np.diff(ends)],
            loop=0,
            optimize=False,
        )


def _indexed(film: Film, progress: Progress | None) -> Iterator[Image.Image]:
    """Yield the pictures in the colours of one palette: equal ground stays equal."""
    colours = _palette(film)
    known = np.zeros(1 << 24, dtype=np.uint8)
    for picture in film.pictures(progress):
        frame = Image.fromarray(_nearest(picture, colours, known), "L")
        frame.putpalette(colours.tobytes())
        yield frame


def _palette(film: Film) -> Picture:
    """Return a palette for all pictures (n, 3), chosen from a few, and the path's colour in it.

    Colours count by the square root of their pixels: else wide ground leaves none for thin lines.
    """
    few = [film.picture(i)[::2, ::2] for i in range(0, len(film), max(1, len(film) // SAMPLES))]
    numbers, counts = np.unique(_numbers(np.concatenate(few)), return_counts=True)
    sheet = _colours(np.repeat(numbers, np.ceil(np.sqrt(counts)).astype(int))[None])
    image = Image.fromarray(sheet).quantize(COLOURS - 1, Image.Quantize.MEDIANCUT, kmeans=3)
    chosen = (image.getpalette() or [])[: 3 * COLOURS - 3]
    return np.array([*chosen, *TRACE], dtype=np.uint8).reshape(-1, 3)


def _numbers(picture: Picture) -> Index:
    """Return the colour of each pixel as one number, below 2**24."""
    red, green, blue = np.moveaxis(picture.astype(np.int64), -1, 0)
    return np.asarray(red << 16 | green << 8 | blue)


def _colours(numbers: Index) -> Picture:
    """Return the colours (..., 3) of numbers."""
    return np.stack([numbers >> 16, numbers >> 8, numbers], axis=-1).astype(np.uint8)


def _nearest(picture: Picture, colours: Picture, known: Picture) -> Picture:
    """Return the nearest colour of each pixel (height, width).

    Args:
        picture: (height, width, 3).
        colours: of the palette (n, 3), fewer than 255.
        known: 1 + the nearest colour of each of the 2**24 that was met, else 0; filled in.
    """
    found = np.empty(picture.shape[:2], dtype=np.uint8)
    if _look_up(picture, known, found):
        numbers = _numbers(picture)
        new = np.unique(numbers[known[numbers] == 0])
        known[new] = 1 + cdist(_colours(new), colours, "sqeuclidean").argmin(axis=1)
        _look_up(picture, known, found)
    return found


@kernel
def _look_up(picture: Picture, known: Picture, found: Picture) -> bool:
    """Set the colour of each pixel that is known; return whether one is not."""
    strange = False
    for y in range(picture.shape[0]):
        for x in range(picture.shape[1]):
            red, green, blue = picture[y, x]
            number = known[np.int64(red) << 16 | np.int64(green) << 8 | np.int64(blue)]
            strange = strange or number == 0
            found[y, x] = number - 1
    return strange
