"""Fence a process: from then on it reads files and computes, and no more, whatever code it runs.

If a xacro file or a model fails behind the fence on some system, the call that it lacks may be
added to CALLS with its numbers on x86_64 and aarch64; a further processor is an entry of MACHINES.
Add no call that writes, connects, starts or signals: test_fence runs escapes.py, which tries them
all. Everything else is fixed by the kernel: numbers of Linux's headers for seccomp, Landlock and
BPF. Seccomp needs no rights; what the process may read, it can still read.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys

# Names, and numbers on x86_64 and aarch64.
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
OLD = 4, 6, 21, 89  # stat, lstat, access and readlink, on x86_64 alone
# By machine: which number above, what the kernel calls it, and the system call seccomp.
MACHINES = {"x86_64": (1, 0xC000003E, 317), "aarch64": (2, 0xC00000B7, 277)}
NONE = 0, 0, 0
MAKE_RULES, RESTRICT, CHANGES = 444, 446, 0x1FF3  # of Landlock: all rights but reading
WRITES, THREAD = os.O_ACCMODE | os.O_CREAT | os.O_TRUNC, 0x10000  # CLONE_THREAD
# Which argument must have which of some bits: openat to read, clone of a thread, prlimit64 of
# itself; clone3, whose flags cannot be seen, is said to be unknown, so that clone is taken.
WITH = ((257, 56), 2, WRITES, 0), ((56, 220), 0, THREAD, THREAD), ((302, 261), 0, 0xFFFFFFFF, 0)
CLONE3 = 435
NO_NEW_PRIVILEGES, FILTER, ALL_THREADS = 38, 1, 1
ALLOW, KILL = 0x7FFF0000, 0x80000000
REFUSE, UNKNOWN = 0x50000 | errno.EACCES, 0x50000 | errno.ENOSYS
LOAD, EQUAL, AND, RETURN = 0x20, 0x15, 0x54, 0x06  # of the kernel's filter language, BPF
NUMBER, MACHINE, FIRST, SIZE = 0, 4, 16, 8  # where a filter finds number and arguments [bytes]


def fence() -> bool:
    """Fence this process, all its threads, for good; return whether the kernel does.

    Where the kernel has Landlock, the memory of other processes is closed to it, too; writing and
    programs are even where False is returned.
    """
    libc, column, machine, seccomp = ctypes.CDLL(None), *MACHINES.get(platform.machine(), NONE)
    if sys.platform != "linux" or libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        return False
    libc.syscall(RESTRICT, libc.syscall(MAKE_RULES, struct.pack("Q", CHANGES), SIZE, 0), 0)
    program = _program(column, machine) if column and struct.calcsize("P") == SIZE else b""
    code = ctypes.create_string_buffer(program, len(program) or 1)
    filtering = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
    return bool(program) and libc.syscall(seccomp, FILTER, ALL_THREADS, filtering) == 0


def _program(column: int, machine: int) -> bytes:
    """Return the filter: each row is an operation, jumps if true and if false, and a number."""
    plain = {int(call.split()[column]): ALLOW for call in CALLS.split(",")}
    plain |= dict.fromkeys(OLD if column == 1 else (), ALLOW) | {CLONE3: UNKNOWN}
    rows = [(LOAD, 0, 0, MACHINE), (EQUAL, 1, 0, machine), (RETURN, 0, 0, KILL)]
    rows += [(LOAD, 0, 0, NUMBER)]
    for number, answer in plain.items():
        rows += [(EQUAL, 0, 1, number), (RETURN, 0, 0, answer)]
    for numbers, argument, mask, value in WITH:  # the lower half of the argument
        rows += [(EQUAL, 0, 5, numbers[column - 1]), (LOAD, 0, 0, FIRST + SIZE * argument)]
        rows += [(AND, 0, 0, mask), (EQUAL, 0, 1, value)]
        rows += [(RETURN, 0, 0, ALLOW), (RETURN, 0, 0, REFUSE)]
    return b"".join(struct.pack("HBBI", *row) for row in (*rows, (RETURN, 0, 0, REFUSE)))
