"""What of this machine a confined job may see: the system, and the tool chains behind PATH, but no home."""

# ruff: noqa: PTH110, PTH112, PTH114 - pathlib's questions raise where another user's home may not be looked into

import contextlib
import fnmatch
import os
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix", "/gnu", "/snap")
# Of /sys what describes the hardware: all of it brings a dozen mounts of control groups along, which cost milliseconds.
HARDWARE = ("/sys/devices", "/sys/bus", "/sys/class", "/sys/module")
NEVER = ("credentials*", ".npmrc", ".netrc", ".pypirc", ".git-credentials", ".ssh", ".config", ".aws", ".gnupg")
INSTALLED = ("lib", "lib64", "libexec", "pyvenv.cfg", "conda-meta", "node_modules")
# A tool chain's own directory in a home, the variable that names it, and what it cannot do without.
TOOLS = {
    ".cargo": "CARGO_HOME",
    ".rustup": "RUSTUP_HOME",
    ".pyenv": "PYENV_ROOT",
    ".rbenv": "RBENV_ROOT",
    ".nvm": "NVM_DIR",
    ".volta": "VOLTA_HOME",
    ".asdf": "ASDF_DATA_DIR",
    ".sdkman": "SDKMAN_DIR",
    ".bun": "BUN_INSTALL",
    ".deno": "DENO_INSTALL",
}
COMPANIONS = {".cargo": ".rustup"}
LINKS_LOOKED_AT = 500


@dataclass(frozen=True, slots=True)
class View:
    """`roots` by the path they appear at, `masked` files and directories inside what is shown, `path` and `env` for every job."""

    roots: dict[Path, Path]
    masked: tuple[Path, ...]
    path: str
    env: dict[str, str]


def look(environ: dict[str, str]) -> View:
    """What is to be shown on this machine to a job of this interpreter and this PATH."""
    entries = [Path(each) for each in environ.get("PATH", os.defpath).split(":") if each.startswith("/")]
    roots: dict[Path, Path] = {}
    for place in [Path(sys.prefix), Path(sys.base_prefix), *_along(Path(sys.executable or sys.prefix))]:
        _show(roots, place)
    for entry in entries:
        for place in _behind(entry):
            _show(roots, place)
    env = {}
    for root in list(roots):
        if root.name in TOOLS:
            env[TOOLS[root.name]] = str(root)
        if root.name in COMPANIONS:
            name = COMPANIONS[root.name]
            beside = Path(environ.get(TOOLS[name], root.with_name(name)))
            _show(roots, beside)
            env[TOOLS[name]] = str(beside)
    seen = [
        str(each) for each in entries if os.path.isdir(each) and (_in_system(each) or any(each.is_relative_to(r) for r in roots))
    ]
    masked = (*_private(Path("/etc")), *(each for root in roots for each in _secrets(root)))
    return View(_outermost(roots), masked, ":".join(dict.fromkeys([*seen, "/usr/bin", "/bin"])), env)


def homes() -> tuple[Path, ...]:
    """Where people's own files are."""
    own = os.path.expanduser("~")  # noqa: PTH111 - pathlib raises where a user has no home
    return tuple(dict.fromkeys(Path(each) for each in (own, "/root", "/home") if each not in ("~", "/")))


def _in_system(path: Path) -> bool:
    return any(path.is_relative_to(each) for each in (*SYSTEM, "/etc"))


def _show(roots: dict[Path, Path], place: Path) -> None:
    """Add an installation at the path it is called by and at the one it really has: links lead from one to the other."""
    real = place.resolve()
    if not os.path.isdir(real) or _too_wide(real) or any(fnmatch.fnmatch(part, bad) for part in real.parts for bad in NEVER):
        return
    for name in {place, real}:
        if not _in_system(name):
            roots[name] = real


def _too_wide(path: Path) -> bool:
    """A root that holds a home, or all of the machine, is no installation."""
    return path == Path("/") or path.parent == Path("/home") or any(home.is_relative_to(path) for home in homes())


def _outermost(roots: dict[Path, Path]) -> dict[Path, Path]:
    """Without those that another one brings along, parents first."""
    return {
        name: real
        for name, real in sorted(roots.items())
        if not any(
            name != other and name.is_relative_to(other) and real == roots[other] / name.relative_to(other) for other in roots
        )
    }


def _along(path: Path) -> Iterator[Path]:
    """The installations that a chain of links passes through."""
    for _ in range(40):
        yield _installation(path.parent)
        if not os.path.islink(path):
            return
        path = Path(os.path.normpath(path.parent / path.readlink()))


def _behind(entry: Path) -> Iterator[Path]:
    """The installation a PATH entry belongs to, and those that its links lead to."""
    if _in_system(entry) or not os.path.isdir(entry):
        return
    yield _installation(entry)
    with contextlib.suppress(OSError), os.scandir(entry) as found:
        links = [Path(each.path) for each in found if each.is_symlink()][:LINKS_LOOKED_AT]
        for link in links:
            yield from (place for place in _along(link) if not _in_system(place))


def _installation(place: Path) -> Path:
    """The directory that has to be seen for the programs in `place` to start: a tool's home, a prefix, or just `place`."""
    for number, part in enumerate(place.parts):
        if part in TOOLS:
            return Path(*place.parts[: number + 1])
    above = place.parent
    prefix = place.name in ("bin", "sbin", "condabin", "shims") and any(os.path.exists(above / each) for each in INSTALLED)
    return above if prefix and not os.path.exists(above / ".git") and above.name != ".local" and not _too_wide(above) else place


def _private(directory: Path) -> Iterator[Path]:
    """What this user may read below `directory` and others may not: as root, the password and key files of the machine."""
    with contextlib.suppress(OSError), os.scandir(directory) as found:
        for entry in found:
            mode = entry.stat(follow_symlinks=False).st_mode
            open_to_all = mode & stat.S_IROTH and (not stat.S_ISDIR(mode) or mode & stat.S_IXOTH)
            if not (stat.S_ISDIR(mode) or stat.S_ISREG(mode)):
                continue
            if not open_to_all and os.access(entry.path, os.R_OK):
                yield Path(entry.path)
            elif stat.S_ISDIR(mode):
                yield from _private(Path(entry.path))


def _secrets(root: Path, depth: int = 2) -> Iterator[Path]:
    """Credentials at the top of an installation, where tools keep them."""
    with contextlib.suppress(OSError), os.scandir(root) as found:
        for entry in found:
            if any(fnmatch.fnmatch(entry.name, each) for each in NEVER):
                yield Path(entry.path)
            elif depth > 1 and entry.is_dir(follow_symlinks=False):
                yield from _secrets(Path(entry.path), depth - 1)
