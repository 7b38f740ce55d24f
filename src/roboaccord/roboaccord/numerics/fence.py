"""Fence a process: from then on it can read files and compute, and nothing else, whatever it runs.

Files of strangers can contain code. `fence` gives the Linux kernel a filter of system calls
(seccomp, no rights needed): the calls in CALLS are allowed, those in LIMITED with certain
arguments, all others fail. Where the kernel has Landlock, writing and the memory of other processes
are closed by that, too. What the process may read, it can still read.

If a xacro file or a model fails behind the fence on some system, the call that it lacks may be
added to CALLS with its numbers on x86_64 and aarch64; a further processor is an entry of MACHINES.
Add no call that writes, connects, starts or signals: test_fence runs escapes.py, which tries them
all. All numbers are those of Linux's headers for seccomp, Landlock and BPF.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys

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
# By machine: column of its numbers above, its name in the kernel, and the system call seccomp.
MACHINES = {"x86_64": (1, 0xC000003E, 317), "aarch64": (2, 0xC00000B7, 277)}
UNKNOWN_MACHINE = 0, 0, 0
# Landlock: system calls that make rules and apply them, and all rights but reading.
MAKE_RULES, RESTRICT, CHANGES = 444, 446, 0x1FF3
# Bits of arguments: of openat, those for writing; of clone, CLONE_THREAD.
WRITES, THREAD = os.O_ACCMODE | os.O_CREAT | os.O_TRUNC, 0x10000
# Calls that are allowed if an argument has a value in some bits: numbers by machine, index of the
# argument, bits, value. They are openat for reading, clone of a thread, and prlimit64 of itself.
MASK_32 = 0xFFFFFFFF  # all bits of the lower half of an argument
LIMITED = ((257, 56), 2, WRITES, 0), ((56, 220), 0, THREAD, THREAD), ((302, 261), 0, MASK_32, 0)
CLONE3 = 435  # answered as unknown, because its flags cannot be seen; libraries then use clone
NO_NEW_PRIVILEGES, FILTER, ALL_THREADS = 38, 1, 1  # arguments of prctl and seccomp
# Verdicts of the filter; a refused call fails with EACCES, an unknown one with ENOSYS.
ALLOW, KILL = 0x7FFF0000, 0x80000000
REFUSE, UNKNOWN = 0x50000 | errno.EACCES, 0x50000 | errno.ENOSYS
LOAD, EQUAL, AND, RETURN = 0x20, 0x15, 0x54, 0x06  # operations of the filter's language, BPF
# bytes: offsets of call number, machine and first argument in what a filter reads; size of one
# argument, which is also that of a pointer
NUMBER, MACHINE, FIRST, SIZE = 0, 4, 16, 8


def fence() -> bool:
    """Fence this process with all its threads, for good; return whether the filter is in force.

    Where the kernel has Landlock, it cannot write, start programs or reach the memory of other
    processes even if False is returned.
    """
    column, machine, seccomp = MACHINES.get(platform.machine(), UNKNOWN_MACHINE)
    libc = ctypes.CDLL(None)
    if sys.platform != "linux" or libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        return False
    rules = libc.syscall(MAKE_RULES, struct.pack("Q", CHANGES), SIZE, 0)
    libc.syscall(RESTRICT, rules, 0)
    program = _program(column, machine) if column and struct.calcsize("P") == SIZE else b""
    code = ctypes.create_string_buffer(program, len(program) or 1)
    filtering = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
    return bool(program) and libc.syscall(seccomp, FILTER, ALL_THREADS, filtering) == 0


def _program(column: int, machine: int) -> bytes:
    """Return the filter: each row is an operation, jumps if true and if false, and a number.

    Args:
        column: of the machine's numbers in CALLS.
        machine: its name in the kernel.
    """
    verdicts = {int(call.split()[column]): ALLOW for call in CALLS.split(",")}
    verdicts |= dict.fromkeys(ONLY_X86_64 if column == 1 else (), ALLOW) | {CLONE3: UNKNOWN}
    # Another machine's calls have other numbers: such a process is killed.
    rows = [(LOAD, 0, 0, MACHINE), (EQUAL, 1, 0, machine), (RETURN, 0, 0, KILL)]
    rows += [(LOAD, 0, 0, NUMBER)]
    for number, verdict in verdicts.items():
        rows += [(EQUAL, 0, 1, number), (RETURN, 0, 0, verdict)]
    for numbers, argument, mask, value in LIMITED:  # the lower half of the argument
        rows += [(EQUAL, 0, 5, numbers[column - 1]), (LOAD, 0, 0, FIRST + SIZE * argument)]
        rows += [(AND, 0, 0, mask), (EQUAL, 0, 1, value)]
        rows += [(RETURN, 0, 0, ALLOW), (RETURN, 0, 0, REFUSE)]
    return b"".join(struct.pack("HBBI", *row) for row in (*rows, (RETURN, 0, 0, REFUSE)))
