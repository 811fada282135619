"""What keeps the code under test from the process that measures it, and from starting others whose time nobody would count."""

import ctypes
import platform
import struct
from collections.abc import Callable

PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 4, 22, 38
FILTER_MODE = 2
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data
ALLOW, KILL, ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
EPERM, ENOSYS = 1, 38
CLONE_THREAD = 0x00010000
CLONE3 = 435
MACHINES = {"x86_64": (0xC000003E, 56, (57, 58)), "aarch64": (0xC00000B7, 220, ())}
"""Audit number, clone, and the other calls that only make processes (fork, vfork)."""


def shut() -> None:
    """Nobody without the system's own rights may read or write this process's memory from now on (Linux)."""
    _prctl(PR_SET_DUMPABLE, 0)


def single() -> Callable[[], None]:
    """What a child calls before it becomes the code under test: it may have threads, but no process of its own.

    A parent that ignores SIGCHLD never gets the processor time of its children, so they would work for nothing.
    Known for Linux on x86_64 and aarch64; elsewhere the child does as it likes.
    """
    machine = MACHINES.get(platform.machine())
    if machine is None or platform.system() != "Linux":
        return lambda: None
    code = _program(*machine)
    program = ctypes.create_string_buffer(code, len(code))
    header = ctypes.create_string_buffer(struct.pack("HL", len(program) // 8, ctypes.addressof(program)))

    def close(kept: object = program) -> None:  # the header holds the program's address, and nothing else keeps it alive
        _prctl(PR_SET_NO_NEW_PRIVS, 1)
        _prctl(PR_SET_SECCOMP, FILTER_MODE, ctypes.addressof(header))

    return close


def _program(audit: int, clone: int, forks: tuple[int, ...]) -> bytes:
    """The filter: a foreign architecture ends the process, clone makes threads only, clone3 is as if it did not exist."""
    checks = [
        *((number, ERRNO | EPERM) for number in forks),
        (CLONE3, ERRNO | ENOSYS),  # its flags lie in memory, where a filter cannot look; libraries fall back to clone
    ]
    lines = [_load(ARCHITECTURE), _if_equal(audit, 1, 0), _end(KILL), _load(NUMBER)]
    lines += [struct.pack("HBBI", 0x35, 0, 1, 0x40000000), _end(KILL)]  # x86_64's second table of calls
    lines += [line for number, result in checks for line in (_if_equal(number, 0, 1), _end(result))]
    lines += [_if_equal(clone, 1, 0), _end(ALLOW), _load(FIRST_ARGUMENT)]
    lines += [struct.pack("HBBI", 0x45, 0, 1, CLONE_THREAD), _end(ALLOW), _end(ERRNO | EPERM)]
    return b"".join(lines)


def _load(offset: int) -> bytes:
    return struct.pack("HBBI", 0x20, 0, 0, offset)


def _if_equal(value: int, skip: int, skip_else: int) -> bytes:
    return struct.pack("HBBI", 0x15, skip, skip_else, value)


def _end(result: int) -> bytes:
    return struct.pack("HBBI", 0x06, 0, 0, result)


def _prctl(option: int, first: int, second: int = 0) -> None:
    prctl = getattr(ctypes.CDLL(None, use_errno=True), "prctl", None)
    if prctl is not None and prctl(option, ctypes.c_ulong(first), ctypes.c_ulong(second), 0, 0):
        raise OSError(ctypes.get_errno(), f"prctl({option}) was refused")
