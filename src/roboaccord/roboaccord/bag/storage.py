"""Writer of rosbag2 bags for the recorder, which can be flushed at any time.

A bag of rosbag2 is a folder with metadata.yaml and a storage file. `RunWriter` writes it; the MCAP
file in it is written by mcap_writer.py, and spool.py calls both in a thread. It adds to the writer
of the library rosbags: a preliminary metadata.yaml, so that the bag of a killed run can be read;
flushes; and latched topics, which keep their last message for late subscribers. unfinished.yaml has
the metadata of a bag in progress, messages.json definitions and hashes of the recorded types, since
rosbags takes 0.2 s to load all types that it knows.

It overrides private parts of rosbags, whose version setup.cfg bounds (<0.12): check this class with
each new version.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import yaml
from rosbags import interfaces as rosbag
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.rosbag2.metadata import dump_qos_v9

from roboaccord.bag.mcap_writer import FastMcapWriter, NewMessage
from roboaccord.bag.topics import Topic
from roboaccord.bag.typestore import typestore
from roboaccord.contract import drafting, writing

# Quality of service of a latched topic in ROS.
_FOREVER = rosbag.QosTime(9223372036, 854775807)  # s, ns: RMW_DURATION_INFINITE
_LATCHED = rosbag.Qos(
    history=rosbag.QosHistory.KEEP_LAST,
    depth=1,
    reliability=rosbag.QosReliability.RELIABLE,
    durability=rosbag.QosDurability.TRANSIENT_LOCAL,
    deadline=_FOREVER,
    lifespan=_FOREVER,
    liveliness=rosbag.QosLiveliness.AUTOMATIC,
    liveliness_lease_duration=_FOREVER,
    avoid_ros_namespace_conventions=False,
)


@cache
def _definitions() -> dict[str, dict[str, Any]]:
    """Return definition and hash of each message type of a run, as arguments of `Writer`."""
    text = files(__package__).joinpath("messages.json").read_text(encoding="utf-8")
    return json.loads(text)  # type: ignore[no-any-return]


class RunWriter(Writer):
    """Writer of rosbag2 bags in the MCAP format that can be flushed at any time."""

    # rosbags makes the writer of the storage file from this table.
    STORAGE_PLUGINS: Mapping[StoragePlugin, Any] = {StoragePlugin.MCAP: FastMcapWriter}
    storage: Any  # a FastMcapWriter while the bag is open

    def write_all(self, messages: Sequence[NewMessage]) -> None:
        """Append messages, whose topics must have been added."""
        self.storage.write_all(messages)
        # What metadata.yaml will state: number of messages by topic, first and last time [ns].
        for connection, time, _ in messages:
            self.counts[connection.id] += 1
            self.min_timestamp = min(time, self.min_timestamp)
            self.max_timestamp = max(time, self.max_timestamp)

    def flush(self) -> None:
        """Write the pending chunk, and pass it to the operating system."""
        if self.storage.chunk.msgs:
            self.storage.close_chunk()

    def close(self) -> None:
        """Write the pending chunk and the index, then metadata.yaml over the preliminary one."""
        with drafting(self.path / "metadata.yaml") as self.metapath:
            super().close()

    def abort(self) -> None:
        """Close the file without an index; messages that were written remain."""
        super().abort()
        self.metapath.with_suffix(".yaml.tmp").unlink(missing_ok=True)

    def add_topic(self, topic: Topic) -> rosbag.Connection:
        """Add a topic of a type that rosbags knows."""
        options: dict[str, Any] = {"offered_qos_profiles": [_LATCHED] if topic.latched else []}
        options |= _definitions().get(topic.kind) or {"typestore": typestore()}
        return self.add_connection(topic.name, topic.kind, **options)

    def write_unfinished(self, robot: str) -> None:
        """Write the preliminary metadata.yaml of a bag in progress, with all counts 0.

        Args:
            robot: name of the robot.

        Raises:
            AccordError: if the file cannot be written.
        """
        text = files(__package__).joinpath("unfinished.yaml").read_text(encoding="utf-8")
        data = yaml.safe_load(text)
        information = data["rosbag2_bagfile_information"]
        file_name = f"{self.path.name}.mcap"
        information["relative_file_paths"] = [file_name]
        information["files"][0]["path"] = file_name
        information["custom_data"]["robot"] = robot
        for connection in self.connections:
            ext: Any = connection.ext
            topic = {
                "name": connection.topic,
                "type": connection.msgtype,
                "serialization_format": ext.serialization_format,
                "offered_qos_profiles": dump_qos_v9(ext.offered_qos_profiles),
                "type_description_hash": connection.digest,
            }
            entry = {"topic_metadata": topic, "message_count": 0}
            information["topics_with_message_count"].append(entry)
        with writing(self.path / "metadata.yaml") as draft:
            draft.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
