"""Limits of the operating system below which ROS crashes, checked before it is loaded.

ROS does not report that memory or open files have run out: it ends the process. The limits below
are measured, as noted beside them, and rounded up.
"""

from __future__ import annotations

import os
import resource

from roboaccord.contract.errors import AccordError
from roboaccord.numerics.machine import check_address_space

SHARED_MEMORY = "/dev/shm"  # where Fast DDS puts its shared memory
ROS_SHARED_MEMORY = 2 * 2**20  # bytes; measured: 3 x 655 kB for the three processes of a run
ROS_FILES = 32  # files open at once; measured: 23
ROS_LIBRARIES = 1_500_000_000  # bytes of address space; measured: 1,343 MB


def check_room_for_ros(advice: str = "") -> None:
    """Refuse to load ROS where it would crash: too little memory, or too few open files allowed.

    Args:
        advice: end of the message, which states what else the user can do.

    Raises:
        AccordError: naming the limit that is too low, and how to raise it.
    """
    try:
        check_address_space(ROS_LIBRARIES)
        memory = os.statvfs(SHARED_MEMORY)
        free = memory.f_bavail * memory.f_frsize if os.access(SHARED_MEMORY, os.W_OK) else 0
    except MemoryError as error:
        raise AccordError(f"{error}{advice}") from None
    except OSError:  # there is no shared memory
        free = 0
    if resource.getrlimit(resource.RLIMIT_NOFILE)[0] < ROS_FILES:
        raise AccordError(f"ROS opens {ROS_FILES} files: raise the limit with ulimit -n{advice}")
    if free < ROS_SHARED_MEMORY:
        needed = f"ROS takes {ROS_SHARED_MEMORY // 2**20} MB of shared memory"
        available = f"{SHARED_MEMORY} has {free // 1024} kB left"
        raise AccordError(f"{needed}, and {available}: enlarge it{advice}")
