"""Decompression of parts of a bag, up to a size: a small file must not fill the memory.

Names of compressions are fixed by MCAP's specification.
"""

from __future__ import annotations

from zstandard import ZstdDecompressor, frame_content_size

COMPRESSIONS = ("", "lz4", "zstd")
"""Compressions of chunks, by their names in MCAP."""


def unzstd(data: bytes, most: int) -> bytes:
    """Return the content of a zstd frame up to a size [bytes]; of a cut one, its whole blocks.

    Raises:
        ZstdError: if it is no such frame, or is damaged.
    """
    stated = frame_content_size(data)
    size = most if stated < 0 else min(stated, most)
    raw: bytes = ZstdDecompressor().stream_reader(data).read(size)
    return raw


def unpack(compression: str, data: bytes, size: int) -> bytes:
    """Return a decompressed chunk, of one byte more at most than the size it states.

    Args:
        compression: one of COMPRESSIONS.
        data: of the chunk.
        size: that the chunk states [bytes].

    Raises:
        RuntimeError, ZstdError: if it is damaged.
    """
    if not compression:
        return data
    if compression == "zstd":
        return unzstd(data, size + 1)
    from lz4.frame import LZ4FrameDecompressor

    raw: bytes = LZ4FrameDecompressor().decompress(data, max_length=size + 1)
    return raw
