"""Edit an XML text so that every byte outside the edits stays, and show the changes as a diff.

An edit is a function that changes a parsed tree. `changes` parses a text together with the position
of each tag, applies edits, compares the tree before and after each, and returns the changes in the
bytes of the text: attributes of start tags, new elements, and elements that are removed. `applied`
makes them, and `unified` shows them. find.py repairs files in this way. test_repair.py checks
encodings, namespaces, entities and blanks.
"""

from __future__ import annotations

import difflib
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Sequence
from html import escape
from itertools import compress
from typing import NamedTuple
from xml.parsers import expat

# A start tag, an attribute in it, and the head of a hunk of a unified diff.
TAG = re.compile(rb"<[^\s/>\"'<!?]+(?:[^\"'<>]|\"[^\"]*\"|'[^']*')*>")
ATTRIBUTE = re.compile(rb"\s+([^\s=]+)\s*=\s*(\"[^\"]*\"|'[^']*')")
HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))?")
UTF8 = "utf-8"

Edit = Callable[[ET.Element], None]  # changes a parsed tree, from its top element


class Change(NamedTuple):
    """A replacement of the bytes `start` to `end` of a text by `new`, with the reason for it."""

    start: int
    end: int
    new: bytes
    why: str


class _Parsed(NamedTuple):
    """A parsed text, with the positions of its elements."""

    top: ET.Element
    tags: dict[ET.Element, tuple[int, int]]  # bytes of the start tag of each element
    ends: dict[ET.Element, int]  # where each element ends
    owners: dict[ET.Element, str]  # the link or joint that each is in


def changes(data: bytes, edits: Sequence[tuple[str, Edit]], encoding: str = "") -> list[Change]:
    """Return the changes that edits make in an XML text, in the order of their positions.

    Args:
        data: the text.
        edits: functions that change the parsed tree, each with its reason.
        encoding: encoding of the text; the one that it declares if empty.

    Raises:
        ValueError: if the tag of an element is not at its position: the element comes from an
            entity, or the text is in UTF-16.
    """
    # The reasons of the edits that change each element.
    parsed = _parse(data, encoding)
    original = before = _state(parsed)
    reasons = dict[ET.Element, list[str]]()
    for reason, edit in edits:
        edit(parsed.top)
        after = _state(parsed)
        for element in after:
            if after[element] != before[element]:
                reasons.setdefault(element, []).append(f"{parsed.owners[element]}: {reason}")
        before = after
    # The changes of the text, for elements that still exist.
    changed = list[Change]()
    for element in {*parsed.top.iter()} & reasons.keys():
        attributes, children = original[element]
        pieces = [*_attribute_changes(data, parsed, element, attributes)]
        pieces += _child_changes(data, parsed, element, children)
        changed += [Change(*piece, "; ".join(reasons[element])) for piece in pieces]
    return sorted(changed)


def applied(data: bytes, pieces: Sequence[Change]) -> bytes:
    """Return a text after changes, which must be sorted and not overlap."""
    for change in reversed(pieces):
        data = data[: change.start] + change.new + data[change.end :]
    return data


def unified(data: bytes, pieces: Sequence[Change], name: str) -> str:
    """Return the changes of a text as a unified diff, with the reasons after each hunk's head."""
    old, new = _lines(data), _lines(applied(data, pieces))
    line_of_change = [data.count(b"\n", 0, change.start) for change in pieces]
    lines = list[str]()
    for line in difflib.unified_diff(old, new, f"a/{name}", f"b/{name}"):
        if head := HUNK.match(line):
            first, count = int(head[1]) - 1, int(head[2] or 1)
            in_hunk = (0 <= number - first < count for number in line_of_change)
            reasons = dict.fromkeys(change.why for change in compress(pieces, in_hunk))
            line = f"{line.rstrip()} {'; '.join(reasons)}\n"
        lines.append(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    return "".join(lines)


def _lines(data: bytes) -> list[str]:
    """Return the lines of a text with their ends."""
    return re.findall(r"[^\n]*\n|[^\n]+", data.decode(UTF8, "replace"))


def _parse(data: bytes, encoding: str) -> _Parsed:
    """Return a text parsed, with the positions of its elements.

    Raises:
        ValueError: as for `changes`.
    """
    builder, parser = ET.TreeBuilder(), expat.ParserCreate(encoding or None)
    tags, ends = dict[ET.Element, tuple[int, int]](), dict[ET.Element, int]()

    def start(name: str, attributes: dict[str, str]) -> None:
        """Store where a start tag is."""
        tag = TAG.match(data, parser.CurrentByteIndex)
        if tag is None:
            raise ValueError(f"<{name}> is not where it is read")
        tags[builder.start(name, attributes)] = tag.span()

    def end(name: str) -> None:
        """Store where an element ends: behind its end tag, if it has one."""
        element = builder.end(name)
        last = tags[element][1]
        has_no_end_tag = data[last - 2 : last] == b"/>"
        ends[element] = last if has_no_end_tag else data.index(b">", parser.CurrentByteIndex) + 1

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.Parse(data, True)
    top = builder.close()
    owners = {top: top.tag}
    for owner in top:
        label = f"{owner.tag} {owner.get('name', '')}".strip()
        owners |= dict.fromkeys(owner.iter(), label)
    return _Parsed(top, tags, ends, owners)


def _state(parsed: _Parsed) -> dict[ET.Element, tuple[dict[str, str], list[ET.Element]]]:
    """Return attributes and children of each element, as they are now."""
    return {element: (dict(element.attrib), [*element]) for element in parsed.tags}


def _attribute_changes(
    data: bytes, parsed: _Parsed, element: ET.Element, before: dict[str, str]
) -> Iterator[tuple[int, int, bytes]]:
    """Yield start, end and new bytes of changed attributes; new ones come after the others."""
    first, last = parsed.tags[element]
    end = first + 1
    for match in ATTRIBUTE.finditer(data, first, last):
        key, end = match[1].decode(UTF8, "replace"), match.end()
        new = element.get(key)
        if new is None and key in before:
            yield match.start(), end, b""
        elif new is not None and new != before.get(key):
            yield match.start(2) + 1, end - 1, _value(new)
    # Behind the tag's name if it has no attributes.
    end = max(end, first + len(re.match(rb"<[^\s/>]+", data[first:last])[0]))  # type: ignore[index]
    added = [b' %s="%s"' % (_value(k), _value(v)) for k, v in element.items() if k not in before]
    if added:
        yield end, end, b"".join(added)


def _child_changes(
    data: bytes, parsed: _Parsed, element: ET.Element, before: list[ET.Element]
) -> Iterator[tuple[int, int, bytes]]:
    """Yield start, end and new bytes of removed children, and of new ones, which come first."""
    present = {*element}
    for child in before:
        if child not in present:
            yield parsed.tags[child][0], parsed.ends[child], b""
    added = [ET.tostring(child) for child in element if child not in parsed.tags]
    if added:
        first, last = parsed.tags[element]
        # The end of the line before the element, with the blanks before it.
        line = re.search(rb"(\r?\n[ \t]*)?\Z", data[:first])
        indent = line[1] or b"" if line else b""
        text = b"".join(added).replace(b" />", b"/>")
        new = indent + b"  " + text if indent else text
        if data[last - 2 : last] == b"/>":
            end = first + len(data[first : last - 2].rstrip())
            yield end, last, b">" + new + indent + b"</%s>" % element.tag.encode()
        else:
            yield last, last, new


def _value(text: str) -> bytes:
    """Return a text as it is written in an attribute."""
    return escape(text).encode("ascii", "xmlcharrefreplace")
