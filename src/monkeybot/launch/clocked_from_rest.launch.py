"""Let the MonkeyBot swing out of rest into its stable gait, which Gazebo can do too.

ros2 launch monkeybot clocked_from_rest.launch.py sim:=gz
"""

from roboaccord_ros.bringup import launch_of

generate_launch_description = launch_of("monkeybot", "clocked_from_rest")
