"""The systems of Gazebo Harmonic (gz-sim 8) that the workspace uses, and their topics.

From the headers of the systems and from ros_gz_bridge's table of types. Gazebo takes an unknown
parameter in silence, and so does the bridge.
"""

from __future__ import annotations

from dataclasses import dataclass, field

TO_GZ, TO_ROS = "ROS_TO_GZ", "GZ_TO_ROS"
BRIDGE_KEYS = {
    "ros_topic_name", "gz_topic_name", "ros_type_name", "gz_type_name", "direction", "lazy",
    "subscriber_queue", "publisher_queue",
}  # fmt: skip
BRIDGE_TYPES = {
    ("trajectory_msgs/msg/JointTrajectory", "gz.msgs.JointTrajectory"),
    ("sensor_msgs/msg/JointState", "gz.msgs.Model"),
    ("nav_msgs/msg/Odometry", "gz.msgs.Odometry"),
    ("rosgraph_msgs/msg/Clock", "gz.msgs.Clock"),
    ("geometry_msgs/msg/Twist", "gz.msgs.Twist"),
    ("std_msgs/msg/Bool", "gz.msgs.Boolean"),
    ("std_msgs/msg/Empty", "gz.msgs.Empty"),
    ("std_msgs/msg/Float64", "gz.msgs.Double"),
    ("std_msgs/msg/String", "gz.msgs.StringMsg"),
    ("ros_gz_interfaces/msg/EntityWrench", "gz.msgs.EntityWrench"),
    ("ros_gz_interfaces/msg/Contacts", "gz.msgs.Contacts"),
}


@dataclass(frozen=True)
class System:
    """Name a system's library, its parameters, and the type and direction of its topics."""

    filename: str
    parameters: frozenset[str] = frozenset()
    topics: dict[str, tuple[str, str]] = field(default_factory=dict)


def _system(library: str, parameters: str = "", **topics: tuple[str, str]) -> System:
    names = frozenset([*parameters.split(), *topics])
    return System(f"gz-sim-{library}-system", names, topics)


SYSTEMS = {
    f"gz::sim::systems::{name}": system
    for name, system in {
        "Physics": _system("physics", "engine"),
        "UserCommands": _system("user-commands"),
        "ApplyLinkWrench": _system("apply-link-wrench", "verbose"),
        "SceneBroadcaster": _system("scene-broadcaster", "dynamic_pose_hertz state_hertz"),
        # Without use_header_start_time: a stamp from the past would never become active.
        "JointTrajectoryController": _system(
            "joint-trajectory-controller",
            "joint_name initial_position",
            topic=("gz.msgs.JointTrajectory", TO_GZ),
        ),
        "JointStatePublisher": _system(
            "joint-state-publisher", "joint_name update_rate", topic=("gz.msgs.Model", TO_ROS)
        ),
        "OdometryPublisher": _system(
            "odometry-publisher",
            "odom_frame robot_base_frame odom_publish_frequency dimensions xyz_offset rpy_offset "
            "odom_covariance_topic tf_topic gaussian_noise",
            odom_topic=("gz.msgs.Odometry", TO_ROS),
        ),
        # A fixed joint between two models. It is always there at the start (gz-sim#3021).
        "DetachableJoint": _system(
            "detachable-joint",
            "parent_link child_model child_link suppress_child_warning",
            attach_topic=("gz.msgs.Empty", TO_GZ),
            detach_topic=("gz.msgs.Empty", TO_GZ),
            output_topic=("gz.msgs.StringMsg", TO_ROS),
        ),
        # Of a world that is written for a run: gazebo/world.py.
        "TriggeredPublisher": _system("triggered-publisher", "input output"),
    }.items()
}
# Parts of Gazebo's window, by library.
WINDOW = frozenset(
    "MinimalScene EntityContextMenuPlugin GzSceneManager InteractiveViewControl CameraTracking "
    "MarkerManager SelectEntities Spawn VisualizationCapabilities WorldControl WorldStats "
    "ComponentInspector EntityTree".split()
)
IN_EVERY_WORLD = tuple(
    f"gz::sim::systems::{name}" for name in ("Physics", "UserCommands", "SceneBroadcaster")
)
IN_EVERY_ROBOT = tuple(
    f"gz::sim::systems::{name}" for name in ("JointStatePublisher", "OdometryPublisher")
)
FOR_JOINTS = ("gz::sim::systems::JointTrajectoryController",)
