"""Make bags valid that were cut by a signal, crash or power cut, or damaged on their disk.

A bag is a recording of ROS 2 in MCAP, a format of messages in blocks with checksums. `recover`, the
work of `accord recover`, copies all messages before the damage into a new bag, which then replaces
the damaged file; a complete bag is left alone. `_losses` names all that is lost, since nothing may
be lost without a report. Reading is in records.py of the core, writing in storage.py.
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from mcap.records import Channel, Schema
from roboaccord.bag.content import Content
from roboaccord.bag.folder import PACKED, bag_files, doubt_of_metadata, find_bag
from roboaccord.bag.metadata import custom_data, read_metadata
from roboaccord.bag.reader import run_of
from roboaccord.bag.records import McapScan
from roboaccord.bag.storage import RunWriter
from roboaccord.contract import AccordError, Json
from rosbags.interfaces import Connection
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.rosbag2.metadata import parse_qos
from rosbags.typesys import Stores, get_types_from_idl, get_types_from_msg, get_typestore
from rosbags.typesys.base import TypesysError

# Hash of a message type that is not known: REP 2016 has the prefix and the 64 hexadecimal digits of
# a SHA-256.
_NO_HASH = "RIHS01_" + 64 * "0"
_IDL = "ros2idl"  # encoding of a definition in IDL
_log = logging.getLogger(__name__)


class Recovered(NamedTuple):
    """The outcome of a repair: messages in the bag now, and whether it had to be changed."""

    messages: int
    changed: bool


def recover(bag: Path) -> Recovered:
    """Make an unfinished or damaged bag valid for `ros2 bag`, in place; log what is lost.

    The damaged file stays until the new one is complete. A bag that is complete is left alone.

    Args:
        bag: folder of a run or a bag, or MCAP file.

    Raises:
        AccordError: if it is not a bag, has several files, or the folder cannot be written.
    """
    bag = find_bag(Path(bag))
    files = bag_files(bag)
    content = Content.of(bag)
    motion_hash = _motion_hash(content)
    is_intact = not content.hashes or motion_hash in content.hashes
    doubt = bag.is_dir() and doubt_of_metadata(bag, content.scans)
    if content.complete and not doubt and is_intact:
        content.log_doubts()
        return Recovered(content.count, changed=False)
    if len(files) > 1:
        raise AccordError(f"{bag} has {len(files)} files; recover them one by one")
    damaged = files[0]
    if damaged.suffix in (".db3", PACKED):
        raise AccordError(f"{damaged}: only plain MCAP files can be recovered")
    metadata = read_metadata(bag) if bag.is_dir() else {}
    custom = {**custom_data(metadata), **content.custom, "roboaccord": "recovered"}
    custom.pop("sha256", None)
    if content.hashes and is_intact:
        custom["sha256"] = motion_hash
    count = _replace(damaged, custom, bag if bag.is_dir() else None)
    for line in _losses(content, metadata.get("message_count"), is_intact=is_intact):
        _log.warning("%s", line)
    return Recovered(count, changed=True)


def _replace(damaged: Path, custom: dict[str, str], bag: Path | None) -> int:
    """Replace a file by a valid one with its readable messages, and return their number.

    Args:
        damaged: the file.
        custom: custom data for the metadata of the new file.
        bag: folder of the bag, whose metadata are replaced, too; None for a single file.

    Raises:
        AccordError: if the folder cannot be written, or the file holds no message.
    """
    folder = damaged.parent
    try:
        # No predictable name: the folder may be one where others can write, too.
        with tempfile.TemporaryDirectory(prefix=".recover.", dir=folder) as draft:
            target = Path(draft) / damaged.stem
            count = _copy(damaged, target, custom)
            (target / f"{damaged.stem}.mcap").replace(damaged)
            if bag:
                (target / "metadata.yaml").replace(bag / "metadata.yaml")
    except OSError as error:
        raise AccordError(f"cannot write {folder}: {error.strerror}") from None
    return count


def _motion_hash(content: Content) -> str:
    """Return the hash of the motion that can be read; "" if there is no motion."""
    try:
        return run_of(content).trajectory.sha256()
    except AccordError:
        return ""


def _losses(content: Content, counted: Json, *, is_intact: bool) -> Iterator[str]:
    """Yield a line for each loss of the repaired bag.

    Args:
        content: what can be read of the damaged bag.
        counted: number of messages by the bag's metadata, if it is known.
        is_intact: whether the motion still has the hash that was stored.
    """
    (scan,) = content.scans
    total = f"{counted} messages" if counted else "the messages"
    if scan.damage and not scan.data_complete:
        yield f"{scan.path} was damaged {scan.damage}; of {total} {content.count} are left"
    elif isinstance(counted, int) and counted > content.count:
        yield f"{scan.path} was cut; of {total} {content.count} are left"
    elif not scan.data_complete:
        yield f"{scan.path} was unfinished; {content.count} messages are left, up to where it ended"
    if scan.unchecked:
        yield f"{scan.path}: {scan.unchecked} messages had no checksum; they are kept, not checked"
    if not is_intact:
        yield f"{content.bag}: the motion is not the one whose hash was stored; the hash is removed"


def _copy(damaged: Path, target: Path, custom: dict[str, str]) -> int:
    """Copy the readable messages of a file into a new bag, and return their number."""
    scan = McapScan(damaged)
    writer = RunWriter(target, version=9, storage_plugin=StoragePlugin.MCAP)
    writer.open()
    connections: dict[int, Connection] = {}
    count = 0
    try:
        for message in scan.messages():
            _add_new_channels(writer, scan, connections)
            if message.channel in connections:
                writer.write(connections[message.channel], message.time_ns, message.data)
                count += 1
        _add_new_channels(writer, scan, connections)
        for key, value in custom.items():
            writer.set_custom_data(key, value)
        if not count:
            raise AccordError(f"{damaged} holds no message that can be read")
        writer.close()
    except BaseException:
        writer.abort()
        raise
    return count


def _add_new_channels(writer: Writer, scan: McapScan, connections: dict[int, Connection]) -> None:
    """Add the channels that have appeared since the last call to the new bag."""
    if len(connections) == len(scan.channels):  # fast, for it is called at each message
        return
    for key, channel in scan.channels.items():
        if key in connections:
            continue
        schema = scan.schemas.get(channel.schema_id)
        if schema is None:  # without their type bytes cannot be decoded
            continue
        connections[key] = writer.add_connection(
            channel.topic,
            schema.name,
            msgdef=_definition(schema),
            rihs01=_type_hash(schema, channel),
            serialization_format=channel.message_encoding,
            offered_qos_profiles=parse_qos(channel.metadata.get("offered_qos_profiles", "")),
        )


def _definition(schema: Schema) -> str:
    """Return the text of a message definition."""
    return bytes(schema.data).decode(errors="replace")


def _type_hash(schema: Schema, channel: Channel) -> str:
    """Return the hash of a message type (REP-2016), as recorded, or from the definition."""
    if "topic_type_hash" in channel.metadata:
        return str(channel.metadata["topic_type_hash"])
    store = get_typestore(Stores.ROS2_JAZZY)  # a new one, which takes foreign types
    try:
        if schema.name not in store.fielddefs:
            text, is_idl = _definition(schema), schema.encoding == _IDL
            types = get_types_from_idl(text) if is_idl else get_types_from_msg(text, schema.name)
            store.register(types)
        return store.hash_rihs01(schema.name)
    except (TypesysError, KeyError, ValueError):
        return _NO_HASH
