"""Writes a film to a file: as H.264 in MP4, by the program ffmpeg, or as a GIF.

A writer draws the pictures of a Film (film.py) one by one, and writes a draft that replaces the
file once it is complete. show.py calls it.

A format may be added: a function in WRITERS, and an option in options.py and door.py. COLOURS and
PALETTE_PICTURES, which trade size for quality of a GIF, may be tuned.
"""

import shutil
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from roboaccord.contract import AccordError, writing

from roboaccord_view.drawing.ground import PATH_COLOUR
from roboaccord_view.film import Film, Progress

INSTALL = "--mp4 needs ffmpeg, which is not on PATH; run: apt-get install ffmpeg"
# Colours of a GIF: 6 bits per pixel, of 8 at most, since the pictures have few colours. One of them
# is transparent: it stands where a picture is that before it, which makes files 3 times as small.
COLOURS = 64
# Pictures from which the palette is chosen: beginning, end and four between; the colours of a robot
# do not change.
PALETTE_PICTURES = 6
# Pictures per second of a GIF at most: it stores times in 0.01 s, and players slow down those below
# 0.02 s.
MAX_RATE = 50


def find_ffmpeg(size: tuple[int, int]) -> str:
    """Return the path of ffmpeg, for pictures of a size.

    Raises:
        AccordError: if it is not on PATH, or for odd sides: H.264 halves the size of colours.
    """
    if size[0] % 2 or size[1] % 2:
        raise AccordError(f"size is {size[0]}x{size[1]}; an MP4 needs even sides")
    ffmpeg = shutil.which("ffmpeg")
    if ffmpeg is None:
        raise AccordError(INSTALL)
    return ffmpeg


def write_mp4(film: Film, path: Path, progress: Progress = lambda done, total: None) -> None:
    """Write an MP4.

    Args:
        film: to be written.
        path: of the file.
        progress: called with the number of pictures done and to do.

    Raises:
        AccordError: without ffmpeg, for an odd size, or if ffmpeg cannot write it.
    """
    width, height = film.size
    command = [find_ffmpeg(film.size), "-loglevel", "error", "-y"]
    command += ["-f", "rawvideo", "-pix_fmt", "rgb24"]
    command += ["-video_size", f"{width}x{height}", "-framerate", f"{film.fps:g}", "-i", "pipe:0"]
    command += ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-movflags", "+faststart", "-f", "mp4"]
    pipe = subprocess.PIPE
    with writing(path, ".mp4") as draft:
        with subprocess.Popen([*command, f"file:{draft}"], stdin=pipe, stderr=pipe) as ffmpeg:
            assert ffmpeg.stdin and ffmpeg.stderr
            with suppress(BrokenPipeError):  # ffmpeg has ended; it reports why
                for picture in film.pictures(progress):
                    ffmpeg.stdin.write(picture.tobytes())
                ffmpeg.stdin.close()
            lines = ffmpeg.stderr.read().decode(errors="replace").strip().splitlines()
        if ffmpeg.returncode:
            reason = lines[-1].rpartition(": ")[2] if lines else "ffmpeg failed"
            raise AccordError(f"cannot write {path}: {reason}")


def write_gif(film: Film, path: Path, progress: Progress = lambda done, total: None) -> None:
    """Write a GIF, as `write_mp4` an MP4.

    Raises:
        AccordError: for too many pictures a second, or a file that cannot be written.
    """
    if film.fps > MAX_RATE:
        raise AccordError(f"fps is {film.fps:g}; a GIF shows {MAX_RATE} pictures a second at most")
    ends = np.round(100.0 * np.arange(len(film) + 1) / film.fps)  # of the pictures [0.01 s]
    palette = _palette(film)  # one for all pictures, so that equal ground stays equal
    images = map(Image.fromarray, film.pictures(progress))
    frames = (image.quantize(palette=palette, dither=Image.Dither.NONE) for image in images)
    durations = [int(10 * period) for period in np.diff(ends)]  # [ms]
    options: dict[str, Any] = {"loop": 0, "optimize": True, "duration": durations}
    with writing(path, ".gif") as draft:
        next(frames).save(draft, format="GIF", save_all=True, append_images=frames, **options)


def _palette(film: Film) -> Image.Image:
    """Return an image whose palette fits all pictures, with colours of some of them and the path's.

    A colour counts by the square root of the number of its pixels; if it counted by that number,
    wide ground would leave no colours for thin lines.
    """
    step = max(1, len(film) // PALETTE_PICTURES)
    samples = [film.picture(i)[::2, ::2] for i in range(0, len(film), step)]
    colours, counts = np.unique(np.concatenate(samples).reshape(-1, 3), axis=0, return_counts=True)
    sheet = np.repeat(colours, np.ceil(np.sqrt(counts)).astype(int), axis=0)[None]
    image = Image.fromarray(sheet).quantize(COLOURS - 2, Image.Quantize.MEDIANCUT, kmeans=3)
    chosen = (image.getpalette() or [])[: 3 * COLOURS - 6]
    image.putpalette([*chosen, *PATH_COLOUR.astype(int).tolist()])
    return image


# Writers of films by the ending of a file.
WRITERS = {".gif": write_gif, ".mp4": write_mp4}
