# This workspace on ROS 2 Jazzy with Gazebo Harmonic. CI does not build this image; its parts are
# proven apart (docs/tutorial_ros.md#in-a-container).
#
#   docker build -t roboaccord .
#
# Headless:
#   docker run --rm -it roboaccord ros2 launch snake serpenoid.launch.py sim:=gz headless:=true
#   docker run --rm -it -v $PWD/runs:/ws/runs roboaccord accord run snake serpenoid
#
# With the windows of Gazebo and RViz, on a machine with X11:
#   xhost +local:
#   docker run --rm -it --net host --device /dev/dri -e DISPLAY -v /tmp/.X11-unix:/tmp/.X11-unix \
#       roboaccord ros2 launch snake serpenoid.launch.py sim:=gz
FROM ros:jazzy
SHELL ["/bin/bash", "-euo", "pipefail", "-c"]
WORKDIR /ws
COPY . .
RUN apt-get update \
    && apt-get install -y --no-install-recommends \
        libgl1 make python3-colcon-common-extensions python3-venv ros-jazzy-ros-gz \
    && rosdep update --rosdistro jazzy \
    && rosdep install --from-paths src --ignore-src --rosdistro jazzy -y \
    && rm -rf /var/lib/apt/lists/*
RUN set +u && source /opt/ros/jazzy/setup.bash && make ros
ENTRYPOINT ["/bin/bash", "-c", "source install/setup.bash && exec \"$@\"", "--"]
CMD ["bash"]
