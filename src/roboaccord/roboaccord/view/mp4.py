"""Write a film as H.264 in MP4, by ffmpeg."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from roboaccord.contract.errors import AccordError
from roboaccord.contract.files import writing
from roboaccord.view.film import Film, Progress

INSTALL = "--mp4 needs ffmpeg, which is not on PATH; run: apt-get install ffmpeg"


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
        except BrokenPipeError:  # ffmpeg has given up; it says why
            pass
        said = done.stderr.read().decode(errors="replace").strip().splitlines()
    if done.returncode:
        reason = said[-1].rpartition(": ")[2] if said else "ffmpeg failed"
        raise AccordError(f"cannot write {path}: {reason}")
