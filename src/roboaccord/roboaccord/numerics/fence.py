"""Fence a process: from then on it can read files and compute, and nothing else, whatever it runs.

Files of strangers can contain code. A process that reads them therefore calls `fence` first, which
gives the Linux kernel a filter of system calls (seccomp, for which no rights are needed): the calls
in CALLS are allowed, those in LIMITED with certain arguments, and all others fail. If the kernel
has Landlock, a second mechanism, that also denies writing and access to the memory of other
processes. Files that the process had the right to read remain readable.

The filter is a program in BPF, a small machine language that the kernel interprets at every system
call. If a xacro file or a model fails behind the fence on some system, the missing call may be
added to CALLS with its numbers on x86_64 and aarch64; another processor is an entry of MACHINES.
Add no call that writes, connects, starts or signals: test_fence runs escapes.py, which tries all of
them. All numbers are those of Linux's headers for seccomp, Landlock and BPF.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys
from typing import NamedTuple

# Allowed system calls: names, and numbers on x86_64 and aarch64, separated by commas.
CALLS = """
read 0 63, write 1 64, close 3 57, fstat 5 80, lseek 8 62, mmap 9 222, mprotect 10 226,
munmap 11 215, brk 12 214, rt_sigaction 13 134, rt_sigprocmask 14 135, rt_sigreturn 15 139,
pread64 17 67, readv 19 65, writev 20 66, sched_yield 24 124, mremap 25 216, madvise 28 233,
nanosleep 35 101, getpid 39 172, exit 60 93, uname 63 160, getcwd 79 17, gettimeofday 96 169,
getrusage 98 165, sysinfo 99 179, times 100 153, getuid 102 174, getgid 104 176, geteuid 107 175,
getegid 108 177, getppid 110 173, sigaltstack 131 132, gettid 186 178, futex 202 98,
sched_getaffinity 204 123, getdents64 217 61, restart_syscall 219 128, clock_gettime 228 113,
clock_getres 229 114, clock_nanosleep 230 115, exit_group 231 94, newfstatat 262 79,
readlinkat 267 78, faccessat 269 48, set_robust_list 273 99, getrandom 318 278, membarrier 324 283,
statx 332 291, rseq 334 293, faccessat2 439 439
"""
ONLY_X86_64 = 4, 6, 21, 89  # stat, lstat, access and readlink, which other machines do not have
CLONE3 = 435  # answered as unknown, because its flags cannot be seen; libraries then use clone


class Machine(NamedTuple):
    """Numbers of a processor architecture.

    Args:
        column: column of its numbers in CALLS.
        name: number by which the filter recognises it (AUDIT_ARCH of <linux/audit.h>).
        seccomp: number of the system call that installs a filter.
    """

    column: int
    name: int
    seccomp: int


MACHINES = {"x86_64": Machine(1, 0xC000003E, 317), "aarch64": Machine(2, 0xC00000B7, 277)}
# Bits of arguments: flags of openat that are needed for writing; flag of clone for a thread; all
# bits of the lower half of an argument.
WRITES, THREAD, LOWER_HALF = os.O_ACCMODE | os.O_CREAT | os.O_TRUNC, 0x10000, 0xFFFFFFFF
# Calls that are allowed if an argument has a value in some bits: numbers on x86_64 and aarch64,
# index of the argument, bits, value.
LIMITED = (
    ((257, 56), 2, WRITES, 0),  # openat for reading
    ((56, 220), 0, THREAD, THREAD),  # clone of a thread
    ((302, 261), 0, LOWER_HALF, 0),  # prlimit64 of this process
)
# System calls of Landlock, which make rules and apply them; rights to deny: all but reading.
MAKE_RULES, RESTRICT = 444, 446
CHANGES = 0x1FF3
NO_NEW_PRIVILEGES = 38  # argument of prctl: required for a filter
SET_FILTER, ALL_THREADS = 1, 1  # arguments of seccomp: operation and flag
# Verdicts of the filter. A refused call fails with EACCES, an unknown one with ENOSYS.
ALLOW, KILL = 0x7FFF0000, 0x80000000
REFUSE, UNKNOWN = 0x50000 | errno.EACCES, 0x50000 | errno.ENOSYS
LOAD, EQUAL, AND, RETURN = 0x20, 0x15, 0x54, 0x06  # BPF operations
# [bytes] Offsets in what a filter reads: number of the call, name of the machine, first argument.
NUMBER_AT, MACHINE_AT, ARGUMENTS_AT = 0, 4, 16
SIZE = 8  # bytes of an argument, of a pointer, and of an instruction of the filter


def fence() -> bool:
    """Fence this process with all its threads, for good; return whether the filter is in force.

    If the kernel has Landlock, the process cannot write, start programs or reach the memory of
    other processes even if False is returned.
    """
    machine = MACHINES.get(platform.machine())
    libc = ctypes.CDLL(None)
    if sys.platform != "linux" or libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        return False
    # Landlock: rules that allow none of CHANGES. Where the kernel has none, both calls fail.
    rules = libc.syscall(MAKE_RULES, struct.pack("Q", CHANGES), SIZE, 0)
    libc.syscall(RESTRICT, rules, 0)
    if machine is None or struct.calcsize("P") != SIZE:
        return False
    # Seccomp: the filter.
    program = _filter_program(machine)
    code = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("HxxxxxxP", len(program) // SIZE, ctypes.addressof(code))
    return bool(libc.syscall(machine.seccomp, SET_FILTER, ALL_THREADS, header) == 0)


def _filter_program(machine: Machine) -> bytes:
    """Return the filter in BPF.

    Each instruction is an operation, the numbers of instructions to skip if a comparison is true
    and if it is false, and an operand.
    """
    verdicts = {int(call.split()[machine.column]): ALLOW for call in CALLS.split(",")}
    if machine.column == 1:
        verdicts |= dict.fromkeys(ONLY_X86_64, ALLOW)
    verdicts[CLONE3] = UNKNOWN
    # A process of another machine, whose calls have other numbers, is killed.
    instructions = [(LOAD, 0, 0, MACHINE_AT), (EQUAL, 1, 0, machine.name), (RETURN, 0, 0, KILL)]
    instructions.append((LOAD, 0, 0, NUMBER_AT))
    for number, verdict in verdicts.items():
        instructions += [(EQUAL, 0, 1, number), (RETURN, 0, 0, verdict)]
    for numbers, argument, mask, value in LIMITED:
        lower_half_at = ARGUMENTS_AT + SIZE * argument
        instructions += [(EQUAL, 0, 5, numbers[machine.column - 1]), (LOAD, 0, 0, lower_half_at)]
        instructions += [(AND, 0, 0, mask), (EQUAL, 0, 1, value)]
        instructions += [(RETURN, 0, 0, ALLOW), (RETURN, 0, 0, REFUSE)]
    instructions.append((RETURN, 0, 0, REFUSE))
    return b"".join(struct.pack("HBBI", *instruction) for instruction in instructions)
