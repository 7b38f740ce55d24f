"""Decompression of parts of a bag, up to a given size: a small file must not fill the memory.

A bag is a recording of ROS 2 in the container format MCAP, whose chunks of messages are compressed
by lz4 or zstd. The reader (records.py) states how large the content may be.
"""

from __future__ import annotations

from zstandard import ZstdDecompressor, frame_content_size

# Names of the compressions of chunks in MCAP; "" for none.
COMPRESSIONS = ("", "lz4", "zstd")


def unzstd(data: bytes, largest_size: int) -> bytes:
    """Return the content of a zstd frame [RFC 8878]; of a cut frame its complete blocks.

    Args:
        data: the frame.
        largest_size: number of bytes that are returned at most.

    Raises:
        ZstdError: if the data are not such a frame, or are damaged.
    """
    stated_size = frame_content_size(data)  # negative where the frame states none
    size = largest_size if stated_size < 0 else min(stated_size, largest_size)
    return ZstdDecompressor().stream_reader(data).read(size)


def unpack(compression: str, data: bytes, size: int) -> bytes:
    """Return a decompressed chunk, of at most one byte more than the size that it states.

    The further byte tells the caller, who compares the sizes, that the chunk is larger.

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
