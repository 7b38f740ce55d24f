"""Mutations of good files and words: of bytes, of structure and of numbers."""

from __future__ import annotations

import re
from random import Random

NUMBERS = (
    "nan", ".nan", "inf", "-.inf", "-1", "0", "1e308", "-1e308", "1e-320", "99999999999999999999",
    "0x7fffffffffffffff", "2024-13-45", "!!int z", "1_000", "1:2:3", "true", "null", "''", "~",
    "-0.0", "1e400", "NaN", "1,5", "٣", "100000000", "2147483648",
)  # fmt: skip
# What means something to YAML, XML, shells, printf and terminals; 300 letters exceed a file's name.
WORDS = (
    "", "\0", "é" * 300, "a" * 300, "../../x", "/dev/zero", "[", "{", "]", "*a", "&a", "<<: *a",
    "%n%s", "\u2028", "$(ls)", "${9**9**9}", "&lt;", "<!--", "]]>", "\t", "\r\n", "- ", ": ",
    "\x1b[2J", "\x9b31m", "\u202etxt", "\u2066\u200f",
)  # fmt: skip
# The same for options: paths, signs of terminals, lists, numbers beyond float64 (1e400).
TEXTS = (
    "", "a" * 5000, "..", "/", "-", "0", "\x1b[31mred", "\x1b]0;title\x07", "\x9b2J", "\u202egpj",
    "\u2066\u200e", "\x7f\x08", "a\rb", "a\nb", "\udcff", "[/red]", "[link=x]", ":smile:", "1,2,3",
    "nan", "a=b", "=", ",", "a=1e400", "duration=.nan", "seed=-1",
)  # fmt: skip
# The ends of 8, 16, 32 and 64 bits, and 2^62.
INTEGERS = (0, 1, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 1 << 62, (1 << 64) - 1)
NUMBER = re.compile(rb"-?\d+\.?\d*(?:[eE][-+]?\d+)?")
TOKEN = re.compile(rb"[^\s<>\"'=:,\[\]{}]+")


def mutated(data: bytes, rng: Random, *, text: bool) -> bytes:
    """Return data that were changed in one to four places."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        change = rng.choice(OF_TEXT if text and rng.random() < 0.8 else OF_BYTES)
        data = change(data, rng)
    return data


def flip(data: bytes, rng: Random) -> bytes:
    """Change a few bytes."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        if changed:
            changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def cut(data: bytes, rng: Random) -> bytes:
    """End early."""
    return data[: rng.randrange(len(data) + 1)]


def remove(data: bytes, rng: Random) -> bytes:
    """Leave a part out."""
    start = rng.randrange(len(data) + 1)
    return data[:start] + data[start + rng.choice((1, 4, 8, 64, 1024)) :]


def repeat(data: bytes, rng: Random) -> bytes:
    """Repeat a part, a few times or many."""
    start = rng.randrange(len(data) + 1)
    part = data[start : start + rng.choice((1, 8, 64, 512))]
    return data[:start] + part * rng.choice((2, 3, 100)) + data[start:]


def insert(data: bytes, rng: Random) -> bytes:
    """Put random bytes between."""
    start = rng.randrange(len(data) + 1)
    return data[:start] + rng.randbytes(rng.choice((1, 4, 16))) + data[start:]


def integer(data: bytes, rng: Random) -> bytes:
    """Put an integer of 1, 2, 4 or 8 bytes over what is there, a length or a count perhaps."""
    size = rng.choice((1, 2, 4, 8))
    start = rng.randrange(max(1, len(data) - size))
    value = rng.choice(INTEGERS) & ((1 << 8 * size) - 1)
    return data[:start] + value.to_bytes(size, rng.choice(("little", "big"))) + data[start + size :]


def number(data: bytes, rng: Random) -> bytes:
    """Put something else in the place of a number of a text."""
    found = [*NUMBER.finditer(data)]
    return _put(data, found, rng.choice(NUMBERS), rng)


def word(data: bytes, rng: Random) -> bytes:
    """Put something else in the place of a word of a text."""
    found = [*TOKEN.finditer(data)]
    return _put(data, found, rng.choice(WORDS + NUMBERS), rng)


def lines(data: bytes, rng: Random) -> bytes:
    """Leave out, repeat, swap or indent lines of a text."""
    rows = data.split(b"\n")
    i, j = rng.randrange(len(rows)), rng.randrange(len(rows))
    kind = rng.randrange(5)
    if kind == 0:
        del rows[i]
    elif kind == 1:
        rows.insert(j, rows[i])
    elif kind == 2:
        rows[i], rows[j] = rows[j], rows[i]
    elif kind == 3:
        rows[i] = b" " * rng.choice((1, 2, 4)) + rows[i]
    else:
        rows[i] = rows[i].lstrip()
    return b"\n".join(rows)


def _put(data: bytes, found: list[re.Match[bytes]], new: str, rng: Random) -> bytes:
    if not found:
        return data
    match = rng.choice(found)
    return data[: match.start()] + new.encode() + data[match.end() :]


OF_BYTES = (flip, cut, remove, repeat, insert, integer)
OF_TEXT = (number, number, word, lines, cut)
