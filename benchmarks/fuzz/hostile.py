"""Contents that are small to read and large, deep or without end once they are understood."""

from __future__ import annotations

import gzip
import sqlite3
import struct
import zlib
from functools import cache

import zstandard


def aliases() -> bytes:
    """Return YAML of less than a kilobyte that stands for 9^9 values."""
    rows = ["a0: &a0 [" + ",".join("1" * 9) + "]"]
    rows += [f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 10)]
    return ("\n".join(rows) + "\nterrain: *a9\n").encode()


# Beyond each bound of yaml_files.py: depth, length, references, digits.
YAML_BOMBS = (
    aliases,
    lambda: b"robot: snake\nterrain: " + b"[" * 3000,
    lambda: b"- " * 100_000,
    lambda: b"a: " + b"1" * 900_000,
    lambda: b"robot: snake\nparameters: {link_mass: 1:" + b"1:" * 100_000 + b"1}",
    lambda: b"robot: snake\nterrain: &a [*a]\n",
    lambda: b"robot: !!python/object/apply:os.system ['true']\n",
    lambda: b"\n".join(b"k%d: %d" % (i, i) for i in range(100_000)),
    lambda: b"robot: snake\nname: ../../../x\n",
    lambda: b"a: " + b"x" * 20_000_000,
)


def entities() -> bytes:
    """Return XML whose entities stand for 10^9 letters."""
    rows = ['<!ENTITY a0 "aaaaaaaaaa">']
    rows += [f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 9)]
    return f"<!DOCTYPE r [{''.join(rows)}]><robot name='&a8;'><link/></robot>".encode()


# Beyond the 10 MB of urdf_file.LARGEST, or many elements within it.
XML_BOMBS = (
    entities,
    lambda: b"<robot>" + b"<link>" * 100_000 + b"</link>" * 100_000 + b"</robot>",
    lambda: b"<robot><link name='base_link'/>" + b"<link name='a'/>" * 100_000 + b"</robot>",
    lambda: b"<robot name='" + b"a" * 5_000_000 + b"'><link name='base_link'/></robot>",
    lambda: b"<?xml version='1.0' encoding='no-such'?><robot><link/></robot>",
    lambda: b"<!DOCTYPE r [<!ENTITY x SYSTEM '/dev/zero'>]><robot>&x;<link/></robot>",
    lambda: "<robot name='a'><link name='base_link'/></robot>".encode("utf-16"),
    lambda: b" " * 11_000_000,
)
_HEAD = '<robot name="a" xmlns:xacro="http://www.ros.org/wiki/xacro"><link name="base_link"/>'
XACRO_BOMBS = (
    _HEAD + '<link name="${9**9**9}"/></robot>',
    _HEAD + '<link name="${[0]*10**10}"/></robot>',
    _HEAD + "<link name=\"${'a'*10**10}\"/></robot>",
    _HEAD + '<xacro:include filename="a.urdf.xacro"/></robot>',
    _HEAD + '<xacro:include filename="/dev/zero"/></robot>',
    _HEAD + '<xacro:macro name="m"><xacro:m/><xacro:m/></xacro:macro><xacro:m/></robot>',
    _HEAD + "${sum(1 for _ in iter(int, 1))}</robot>",
    _HEAD + '<xacro:property name="p" value="${xacro.load_yaml(\'/dev/zero\')}"/>${p}</robot>',
    _HEAD + '<link name="$(find no/such)"/><link name="$(env HOME)"/></robot>',
    _HEAD + '<link name="$(find os.path)"/></robot>',
)


def zstd_bomb(name: str = "") -> bytes:
    """Return a bag file of less than a megabyte that unpacks to gigabytes."""
    size = 3 << 30
    if name.endswith(".zstd"):
        return _zeros(size)
    packed = _zeros(size)
    chunk = (
        struct.pack("<QQQII", 0, 0, size, 0, 4) + b"zstd" + struct.pack("<Q", len(packed)) + packed
    )
    header = struct.pack("<I", 4) + b"ros2" + struct.pack("<I", 0)
    parts = (1, header), (6, chunk)
    records = b"".join(struct.pack("<BQ", opcode, len(part)) + part for opcode, part in parts)
    return b"\x89MCAP0\r\n" + records


@cache
def _zeros(size: int) -> bytes:
    packer = zstandard.ZstdCompressor(level=1).compressobj(size=size)
    block = bytes(1 << 24)
    return b"".join(packer.compress(block) for _ in range(size >> 24)) + packer.flush()


def hostile_database(_: str) -> bytes:
    """Return a database whose messages are a view without end."""
    base = sqlite3.connect(":memory:")
    base.executescript(
        "CREATE TABLE topics(id INTEGER, name TEXT, type TEXT);"
        "INSERT INTO topics VALUES (1, '/snake/joint_states', 'sensor_msgs/msg/JointState');"
        "CREATE VIEW messages AS WITH RECURSIVE c(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM c)"
        " SELECT id, 1 AS topic_id, id AS timestamp, zeroblob(1000000) AS data FROM c;"
    )
    return bytes(base.serialize())


# A record of 2^63 - 1 bytes, the largest length that a signed integer has, and what unpacks to far
# more.
BAG_BOMBS = (
    zstd_bomb,
    hostile_database,
    lambda _: b"\x89MCAP0\r\n" + struct.pack("<BQ", 6, (1 << 63) - 1) + b"x" * 99,
    lambda _: b"",
    lambda _: gzip.compress(bytes(1 << 20)),
    lambda _: aliases(),
)


@cache
def deflated() -> bytes:
    """Return 256 MB of zeros, deflated."""
    return zlib.compress(bytes(1 << 28), 9)


def _chunk(kind: bytes, content: bytes) -> bytes:
    check = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)


def _second_header(data: bytes) -> bytes:
    second = _chunk(b"IHDR", struct.pack(">IIBBBBB", 30000, 30000, 8, 2, 0, 0, 0))
    return data[:33] + second + data[33:]


# Headers of 2^30 pixels to a side, and chunks that unpack to far more than the picture.
PNG_BOMBS = (
    _second_header,
    lambda data: data[:33] + _chunk(b"iCCP", b"x\0\0" + deflated()) + data[33:],
    lambda data: data[:33] + _chunk(b"zTXt", b"x\0\0" + deflated()) + data[33:],
    lambda data: data[:33] + _chunk(b"IDAT", deflated()) + data[33:],
    lambda data: data[:16] + struct.pack(">II", 1 << 30, 1 << 30) + data[24:],
)


def tiff_bomb() -> bytes:
    """Return a TIFF that states that it has 4 x 10^9 pixels."""
    tags = ((256, 4, 1, 1 << 16), (257, 4, 1, 1 << 16), (258, 3, 1, 8), (259, 3, 1, 32773),
            (262, 3, 1, 1), (273, 4, 1, 200), (278, 4, 1, 1 << 16), (279, 4, 1, 2))  # fmt: skip
    entries = b"".join(struct.pack("<HHII", *tag) for tag in tags)
    return b"II*\0" + struct.pack("<IH", 8, len(tags)) + entries + bytes(4 + 100) + b"\x81\0" * 50
