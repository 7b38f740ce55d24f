"""Decompression of parts of a bag, up to a given size: a small file must not fill the memory.

Names of compressions are those of MCAP's specification.
"""

from __future__ import annotations

from zstandard import ZstdDecompressor, frame_content_size

COMPRESSIONS = ("", "lz4", "zstd")
"""Names of the compressions of chunks in MCAP; "" for none."""


def unzstd(data: bytes, most: int) -> bytes:
    """Return the content of a zstd frame, up to `most` bytes; of a cut frame its complete blocks.

    Raises:
        ZstdError: if the data are not such a frame, or are damaged.
    """
    stated = frame_content_size(data)
    size = most if stated < 0 else min(stated, most)
    raw: bytes = ZstdDecompressor().stream_reader(data).read(size)
    return raw


def unpack(compression: str, data: bytes, size: int) -> bytes:
    """Return a decompressed chunk, of at most one byte more than the size that it states.

    Args:
        compression: one of COMPRESSIONS.
        data: compressed content.
        size: of the content that the chunk states [bytes].

    Raises:
        RuntimeError, ZstdError: if the data are damaged.
    """
    if not compression:
        return data
    if compression == "zstd":
        return unzstd(data, size + 1)
    from lz4.frame import LZ4FrameDecompressor

    raw: bytes = LZ4FrameDecompressor().decompress(data, max_length=size + 1)
    return raw
