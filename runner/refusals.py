"""What a start refuses, each time with what was expected, what was found and how to mend it."""

import difflib
from pathlib import Path, PurePath

from runner import files, repo
from runner.bench import Bench, below
from runner.checkouts import links
from runner.core.errors import CampaignError, ContractError, RepoError
from runner.core.models import Oid
from runner.core.news import Warned
from runner.core.state import State
from runner.ground import CONTRACT, Ground, is_own


def refuse_dirty(ground: Ground, allow: bool) -> tuple[str, ...]:
    """What is not committed; refused unless the person waived it."""
    found = repo.unclean(ground.user, ground.own)
    if found and not allow:
        shown = ", ".join(found[:5]) + (f" and {len(found) - 5} more" if len(found) > 5 else "")
        raise RepoError(
            f"the working tree of {ground.user.worktree} is not clean: {shown}",
            "commit, ignore or stash these, or start with --allow-dirty (they are then no part of the baseline)",
        )
    return found


def refuse_foreign_branch(ground: Ground) -> None:
    """A branch of that name that this journal did not make is never touched; nor can one be made where another is in the way."""
    tip = repo.branch_tip(ground.user, ground.contract.branch)
    if tip is not None:
        raise RepoError(
            f"branch {ground.contract.branch} exists already (at {tip[:12]}), and this experiment has no journal that made it",
            f"rename or delete it (git branch -m {ground.contract.branch} NEW_NAME), or set another `branch` in {CONTRACT}",
        )
    other = repo.in_the_way(ground.user, ground.contract.branch)
    if other is not None:
        raise RepoError(
            f"branch {ground.contract.branch} cannot be made beside branch {other}: git keeps one as a file where the other is"
            " a directory",
            f"rename that one (git branch -m {other} NEW_NAME), or set another `branch` in {CONTRACT}",
        )


def refuse_other_settings(bench: Bench, baseline: Oid) -> None:
    """The starting settings have to be those of the commit the campaign starts from, byte for byte."""
    start = bench.contract.settings_file
    if start is None:
        return
    for path in bench.settings():
        if bench.private.read(baseline, path) is None:
            raise ContractError(
                bench.contract.say("optimization_surface.settings_files", f"{path} is not in commit {baseline[:12]}")
            )
    first = bench.settings()[0]
    committed, written = bench.private.read(baseline, first) or b"", Path(start).read_bytes()
    if committed != written:
        old, new = (data.decode("utf-8", "backslashreplace").splitlines() for data in (committed, written))
        found = difflib.unified_diff(old, new, f"{first} at {baseline[:12]}", Path(start).name, lineterm="")
        diff = "\n".join(list(found)[:40])
        raise CampaignError(
            f"{Path(start).name} differs from {first} at the commit to start from:\n{diff}",
            f"copy one over the other, and commit {first}",
        )


def refuse_another_campaign(ground: Ground, known: State) -> None:
    """A journal goes on only under the id and the branch it was opened with."""
    opened = known.opened
    if opened is not None and (opened.experiment, opened.branch) != (ground.contract.id, ground.contract.branch):
        raise CampaignError(
            f"the journal belongs to {opened.experiment} on branch {opened.branch},"
            f" {CONTRACT} says {ground.contract.id} on {ground.contract.branch}",
            "put id and branch back, or move journal.jsonl away to begin a new campaign",
        )


def refuse_setup(bench: Bench, commit: Oid) -> None:
    """What setup names has to be there, and may hide nothing."""
    setup = bench.contract.setup
    for name in setup.when_changed if setup else ():
        file, inside = Path(bench.contract.project_root) / name, (PurePath(bench.cwd) / name).as_posix()
        if not file.is_file() and inside not in bench.private.entries(commit):
            raise ContractError(bench.contract.say("setup.when_changed", f"expected a file, found none at {file}"))
    _refuse_links(bench, commit)


def _refuse_links(bench: Bench, commit: Oid) -> None:
    """Each link has to bring something, and nothing that the commit has: that would hide what a candidate changes."""
    setup = bench.contract.setup
    tracked = [PurePath(path) for path in bench.private.entries(commit)] if setup else []
    for name in setup.link if setup else ():
        host, inside = Path(bench.contract.project_root) / name, PurePath(bench.cwd) / name
        if not host.exists():
            raise ContractError(bench.contract.say("setup.link", f"expected something to bring in, found none at {host}"))
        if any(path.is_relative_to(inside) or inside.is_relative_to(path) for path in tracked):
            raise ContractError(
                bench.contract.say(
                    "setup.link", f"{name} is in the commit, and the link would hide what a candidate changes there"
                ),
                "link only what git does not track",
            )


def warn_of_idle_paths(bench: Bench, commit: Oid) -> None:
    """A writable path that names nothing is often a slip of the pen; it may also be a place for new files."""
    tracked = bench.private.entries(commit)
    for number, entry in enumerate(bench.contract.writable_paths):
        inside = below(entry.path, bench.root)
        if inside and not any(path == inside or path.startswith(f"{inside}/") for path in tracked):
            bench.news(Warned(bench.contract.say(f"writable_paths[{number}]", f"{inside} is not in commit {commit[:12]}")))


def absent_in_checkout(bench: Bench, commit: Oid) -> str:
    """What lies in the person's checkout and not in a fresh one, as the likely reason why a fresh one fails; "" for nothing.

    Names are given as `setup.link` takes them, relative to project_root; what lies beside it, which no link brings, in full.
    """
    tracked = bench.private.entries(commit)
    folders = {str(parent) for path in tracked for parent in PurePath(path).parents}
    root, tree = bench.user.worktree, bench.sandbox.places.tree
    brought = {mount.room.relative_to(tree).as_posix() for mount in links(bench)}
    here = [p.relative_to(root).as_posix() for f in sorted(folders) if (root / f).is_dir() for p in sorted((root / f).iterdir())]
    known = {*tracked, *folders, *brought}
    lacking = [p for p in here if p not in known and not p.endswith(".git") and not is_own(PurePath(p).name)]
    if not lacking:
        return ""
    home = root / bench.cwd
    names = [files.display(below(root / p, home) or str(root / p)) for p in lacking]
    shown = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
    return f"these exist in {home} and not in a fresh checkout: {shown}; bring what it needs with: setup: {{link: [NAME, ...]}}"
