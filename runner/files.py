"""Files that last, and directories that cannot lead us astray."""

# Names here are what the system hands out, bytes that are not UTF-8 included, by the hundred thousand: plain strings and `os`.
# ruff: noqa: PTH101, PTH102, PTH104, PTH105, PTH106, PTH108, PTH115, PTH118, PTH211

import contextlib
import fcntl
import hashlib
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

DEEP = 3000
"""Bytes of path above which a directory is first moved up before it is removed (the kernel's limit is 4096)."""
CHUNK = 1 << 20


def display(path: str) -> str:
    r"""A path as printable text: bytes that are not UTF-8 and control characters as \xNN, a backslash doubled.

    No two paths look the same, and slashes stay where they are.
    """
    return path if path.isprintable() and "\\" not in path else "".join(map(_printable, path))


def _printable(char: str) -> str:
    code = ord(char)
    if char == "\\":
        return "\\\\"
    if char.isprintable():
        return char
    if 0xDC80 <= code <= 0xDCFF:  # how Python holds a byte that is not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def write_durably(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Replace a file whole: after a crash there is the old content or the new, never a part."""
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    sync_directory(path.parent)


@contextlib.contextmanager
def held(directory: Path) -> Iterator[bool]:
    """Whether this process has the directory for itself while the block runs; a kernel lock, gone with the process."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield True
    except BlockingIOError:
        yield False
    finally:
        os.close(descriptor)


def sync_directory(path: Path) -> None:
    """Make names that were added to or taken from a directory durable."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def open_plain(path: Path | str) -> IO[bytes]:
    """A regular file for reading, never through a symlink and never waiting on a pipe; OSError where it is none."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(f"{display(os.fspath(path))} is not a regular file")
    return os.fdopen(descriptor, "rb")


def read_plain(path: Path | str, limit: int | None = None) -> bytes:
    """The bytes of a regular file, never through a symlink; OSError where it is none, ValueError above `limit` bytes."""
    with open_plain(path) as file:
        data = file.read() if limit is None else file.read(limit + 1)
    if limit is not None and len(data) > limit:
        raise ValueError(f"{display(os.fspath(path))} has more than {limit} bytes")
    return data


def is_hollow(path: Path) -> bool:
    """Whether a regular file is empty or begins with NUL: what a power loss leaves of a file that was never synced."""
    try:
        with open_plain(path) as file:
            return file.read(1) in (b"", b"\0")
    except OSError:
        return False


def walk(root: Path, stop: Callable[[str], bool] = lambda name: False) -> Iterator[tuple[str, os.stat_result | None]]:
    """Every file below `root` with its lstat, symlinks unfollowed; paths relative, with slashes.

    A directory is entered and not told, except one whose name `stop` picks: told and not entered.
    The stat is None where a directory cannot be read (no permission, a path too long). A missing root is OSError.
    """
    os.lstat(root)
    pending = [""]
    while pending:
        prefix = pending.pop()
        try:
            with os.scandir(os.path.join(root, prefix)) as entries:
                found = [(prefix + entry.name, entry.name, entry.stat(follow_symlinks=False)) for entry in entries]
        except OSError:
            yield prefix.rstrip("/"), None
            continue
        for path, name, seen in found:
            if stat.S_ISDIR(seen.st_mode) and not stop(name):
                pending.append(path + "/")
            else:
                yield path, seen


def copy_tree(source: Path, target: Path) -> None:
    """A new directory with the same files (new inodes), modes, mtimes and symlinks; special files are OSError."""
    os.mkdir(target)
    pending = [(os.fspath(source), os.fspath(target))]
    while pending:
        old, new = pending.pop()
        with os.scandir(old) as entries:
            for entry in entries:
                to = f"{new}/{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    os.mkdir(to)
                    pending.append((entry.path, to))
                elif entry.is_symlink():
                    os.symlink(os.readlink(entry.path), to)
                else:
                    copy_file(entry.path, to)


def copy_file(source: Path | str, target: Path | str) -> None:
    """A regular file's bytes, mode and mtime in a new file; OSError where there is one already."""
    with open_plain(source) as old:
        seen = os.fstat(old.fileno())
        new = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            _pour(old.fileno(), new, seen.st_size)
            os.fchmod(new, stat.S_IMODE(seen.st_mode))
            os.utime(new, ns=(seen.st_mtime_ns, seen.st_mtime_ns))
        finally:
            os.close(new)


def _pour(old: int, new: int, size: int) -> None:
    if size > CHUNK and hasattr(os, "copy_file_range"):
        with contextlib.suppress(OSError):  # not on this file system: the loop below does it
            while os.copy_file_range(old, new, 1 << 30):
                pass
    while block := os.read(old, CHUNK):
        view = memoryview(block)
        while view:
            view = view[os.write(new, view) :]


def remove_tree(path: Path) -> None:
    """Take a directory away whatever was done to it: no write permission, any depth, names too long; or a file."""
    top = os.fspath(path)
    try:
        seen = os.lstat(top)
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(seen.st_mode):
        os.unlink(top)
        return
    pending, moved = [top], 0
    while pending:
        below = _emptied(pending[-1])
        for name in below:
            moved = _push(pending, top, name, moved)
        if not below:
            os.rmdir(pending.pop())


def _emptied(directory: str) -> list[str]:
    """Unlink the files of a directory; the directories in it are handed back."""
    try:
        return _unlink_files(directory)
    except PermissionError:
        os.chmod(directory, 0o700)
        return _unlink_files(directory)


def _unlink_files(directory: str) -> list[str]:
    with os.scandir(directory) as entries:
        found = [(entry.path, entry.is_dir(follow_symlinks=False)) for entry in entries]
    for path, is_directory in found:
        if not is_directory:
            os.unlink(path)
    return [path for path, is_directory in found if is_directory]


def _push(pending: list[str], top: str, name: str, moved: int) -> int:
    """Note a directory for removal; one that lies too deep is first moved to the top under a number of its own."""
    if len(os.fsencode(name)) < DEEP:
        pending.append(name)
        return moved
    os.chmod(name, 0o700)
    while os.path.lexists(shallow := f"{top}/.deep-{moved}"):
        moved += 1
    os.rename(name, shallow)
    return moved + 1


def digest(directory: Path, skip: Callable[[str], bool] = lambda path: False) -> str:
    """SHA-256 hex of a directory: paths, exec bits, link targets and contents, in order; special files are OSError.

    `skip` is asked with each relative path.
    """
    total = hashlib.sha256()
    for path, seen in sorted((entry for entry in walk(directory) if not skip(entry[0])), key=lambda e: os.fsencode(e[0])):
        if seen is None:
            raise OSError(f"{display(os.path.join(directory, path))} cannot be read")
        name, full = os.fsencode(path), os.path.join(directory, path)
        if stat.S_ISLNK(seen.st_mode):
            kind, content = b"link", os.fsencode(os.readlink(full))
        else:
            kind, content = b"exec" if seen.st_mode & 0o100 else b"file", _file_digest(full)
        for part in (kind, name, content):
            total.update(b"%d:" % len(part) + part)
    return total.hexdigest()


def _file_digest(path: str) -> bytes:
    total = hashlib.sha256()
    with open_plain(path) as file:
        while block := file.read(CHUNK):
            total.update(block)
    return total.digest()
