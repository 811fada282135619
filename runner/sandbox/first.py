"""The first process inside a namespace: it checks the command, says the launcher's word, and outlives its child."""

import functools
import platform
import re

from runner.core.errors import SandboxError
from runner.processes import Limits

# The shell stays as the namespace's first process: it reaps orphans, and its parent's `wait` then knows their CPU time.
# Its word is the first line on stderr and is said before the command exists, so the command cannot forge it.
# The job's variables come in disguise (_R_HOME): as arguments they would stand in every user's list of processes, and under
# their own names an LD_PRELOAD would reach the launchers outside. `env -u` takes back what shells add, and `exec` keeps a command
# from being a builtin.
SCRIPT = r"""
cwd=$1 name=$2 data=$3 tasks=$4 size=$5 open=$6 names=$7
shift 7
no() { printf 'refused %s\n' "$1" >&2; exit 125; }
cd "$cwd" 2>/dev/null || no "cannot enter the working directory $cwd: it is not there"
set -f
case $name in
*/*) path=$name; [ -e "$path" ] || no "no such command: $name" ;;
*)  path=
    IFS=:
    for place in $_R_PATH; do
        if [ -f "$place/$name" ] && [ -x "$place/$name" ]; then path=$place/$name; break; fi
    done
    unset IFS
    [ "$path" ] || no "no such command: $name" ;;
esac
[ -f "$path" ] && [ -x "$path" ] || no "not executable: $path; chmod +x makes it so"
case $path in
/usr/* | /bin/* | /sbin/*) magic= ;;
*) magic=$(PATH=/usr/bin:/bin dd if="$path" bs=2 count=1 2>/dev/null) ;;
esac
if [ "$magic" = '#!' ]; then
    IFS= read -r line <"$path"
    case $line in *"$(printf '\r')")
        no "bad interpreter: the first line of $path ends with CRLF; save the file with LF line ends" ;;
    esac
    program=${line#??}
    program=${program#"${program%%[! ]*}"}
    [ -x "${program%% *}" ] || no "bad interpreter: $line of $path is not there"
fi
ulimit -c 0 2>/dev/null
[ "$data" ] && ulimit -d "$data" 2>/dev/null
[ "$size" ] && ulimit -f "$size" 2>/dev/null
[ "$open" ] && ulimit -n "$open" 2>/dev/null
[ "$tasks" ] && { ulimit -p "$tasks" 2>/dev/null || ulimit -u "$tasks" 2>/dev/null; }
trap '' INT TERM HUP QUIT
echo started >&2
exec 3>&2 2>/dev/null # a shell would tell of a child's signal there
(
    trap - INT TERM HUP QUIT
    for _R_ in $names; do eval "export $_R_=\"\$_R_$_R_\"; unset _R_$_R_"; done
    exec 2>&3 3>&-
    exec /usr/bin/env -u PWD -u OLDPWD -u SHLVL -u _ "$@"
)
exit $?
"""


SHELL = "/bin/sh"


def first_process(argv: tuple[str, ...], cwd: str, env: dict[str, str], limits: Limits, shell: str = SHELL) -> tuple[str, ...]:
    """The words that start `argv` with exactly `env`, which has to come in the `disguised` environment."""
    if "=" in argv[0]:
        raise SandboxError(f"a command's name may not hold '=': {argv[0]}", "rename the file")
    return (shell, "-c", SCRIPT, "sh", cwd, argv[0], *_numbers(limits), " ".join(env), *argv)


def disguised(env: dict[str, str]) -> dict[str, str]:
    """`env` under names that mean nothing to any program."""
    for name in env:
        if not re.fullmatch(r"(?!_R_)[A-Za-z_][A-Za-z0-9_]*", name):
            raise SandboxError(f"a job's environment cannot hold {name!r}", "use letters, digits and _, and not _R_ first")
    return {f"_R_{name}": value for name, value in env.items()}


def _numbers(limits: Limits) -> tuple[str, str, str, str]:
    """In the units of a POSIX `ulimit`: KiB of data, tasks, blocks of 512 bytes, files."""
    tasks = limits.processes if _counts_by_namespace() or limits.processes is None else limits.processes + _tasks_now()
    return _text(limits.memory_bytes, 1024), _text(tasks, 1), _text(limits.file_bytes, 512), _text(limits.open_files, 1)


def _text(value: int | None, unit: int) -> str:
    return "" if value is None else str(value // unit)


@functools.cache
def _counts_by_namespace() -> bool:
    """Since Linux 5.14 RLIMIT_NPROC counts a user's tasks in the user namespace; before, everywhere."""
    found = re.match(r"(\d+)\.(\d+)", platform.release())
    return found is not None and (int(found[1]), int(found[2])) >= (5, 14)


def _tasks_now() -> int:
    from runner.processes.warden import tasks_of_this_user

    return tasks_of_this_user()


def base_env(path: str, home: str, tmp: str, tools: dict[str, str]) -> dict[str, str]:
    """What every job finds; nothing of the runner's own environment but PATH and the homes of tool chains."""
    return {
        "PATH": path,
        "HOME": home,
        "TMPDIR": tmp,
        "LANG": "C.UTF-8",
        "USER": "research",
        "LOGNAME": "research",
        "SHELL": "/bin/sh",
        "PYTHONDONTWRITEBYTECODE": "1",
        **tools,
    }
