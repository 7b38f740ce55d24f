# This workspace on ROS 2 Jazzy with Gazebo Harmonic (docs/tutorial_ros.md#in-a-container), or with
# `--build-arg ROS=lyrical` on Lyrical with Jetty. `.ci/run image` builds it.
#
# Headless: Gazebo's server, all simulators, bags
#   docker build --target headless -t roboaccord:headless .
#   docker run --rm -it roboaccord:headless ros2 launch snake serpenoid.launch.py sim:=gz headless:=true
#   docker run --rm -it -v "$PWD/runs:/ws/runs" roboaccord:headless accord run snake serpenoid
#
# Desktop: also the windows of Gazebo and RViz, on a machine with X11
#   docker build -t roboaccord .
#   xhost +local:
#   docker run --rm -it --net host --device /dev/dri -e DISPLAY -v /tmp/.X11-unix:/tmp/.X11-unix \
#       roboaccord ros2 launch snake lateral_undulation.launch.py sim:=gz

ARG ROS=jazzy

# The package.xml files alone: stages below are built anew only where these change.
FROM ros:${ROS}-ros-base AS manifests
COPY src /manifests
RUN find /manifests -mindepth 2 -maxdepth 2 ! -name package.xml -exec rm -rf {} +

# What rosdep and the lock give.
FROM ros:${ROS}-ros-base AS dependencies
SHELL ["/bin/bash", "-euo", "pipefail", "-c"]
ENV DEBIAN_FRONTEND=noninteractive
WORKDIR /ws
RUN apt-get update \
    && apt-get install -y --no-install-recommends make python3-colcon-common-extensions python3-venv \
    && rm -rf /var/lib/apt/lists/*
COPY --from=manifests /manifests /ws/src
ARG WINDOWS="foxglove_bridge joint_state_publisher_gui joy plotjuggler_ros rviz2 rviz_default_plugins teleop_twist_joy"
RUN apt-get update && rosdep update --rosdistro "$ROS_DISTRO" \
    && rosdep install --from-paths /ws/src --ignore-src --rosdistro "$ROS_DISTRO" -y --skip-keys "$WINDOWS" \
    && rm -rf /var/lib/apt/lists/*
COPY Makefile /ws/
COPY .ci/install.py /ws/.ci/
COPY requirements /ws/requirements
RUN make -C /ws .venv_ros/.ros && chown ubuntu /ws

FROM dependencies AS headless
COPY --chown=ubuntu . /ws
USER ubuntu
RUN set +u && source "/opt/ros/$ROS_DISTRO/setup.bash" \
    && /ws/.venv_ros/bin/python -m colcon build --symlink-install
ENTRYPOINT ["/bin/bash", "-c", "source /ws/install/setup.bash && exec \"$@\"", "--"]
CMD ["bash"]

# The windows' packages lie below the sources' layers, so that a change of these does not install them again.
FROM dependencies AS windows
RUN apt-get update \
    && rosdep install --from-paths /ws/src --ignore-src --rosdistro "$ROS_DISTRO" -y \
    && rm -rf /var/lib/apt/lists/*

FROM windows AS desktop
COPY --from=headless --chown=ubuntu /ws /ws
USER ubuntu
ENTRYPOINT ["/bin/bash", "-c", "source /ws/install/setup.bash && exec \"$@\"", "--"]
CMD ["bash"]
