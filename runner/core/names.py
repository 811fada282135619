"""Names that some program trusts by itself, and that a candidate may therefore not bring along.

Python runs `sitecustomize.py` and `.pth` lines at every start and believes a `.pyc` without its source; pytest runs
`conftest.py`; agents obey configuration that lies in a repository, also in the next turn.
"""

from collections.abc import Collection, Container

NEVER = {"sitecustomize.py": "Python runs it at every start", "usercustomize.py": "Python runs it at every start"}
NEVER_ENDING = {".pth": "Python runs its lines at every start", ".pyc": "Python believes it without its source"}
NOT_NEW = {
    "conftest.py": "pytest runs it before every test",
    "pytest.ini": "pytest obeys it",
    ".mcp.json": "agents obey it",
    "agents.md": "agents obey it",
    "claude.md": "agents obey it",
    "gemini.md": "agents obey it",
    "opencode.json": "agents obey it",
    ".aider.conf.yml": "agents obey it",
    ".cursorrules": "agents obey it",
}
TOOLS = frozenset({"pytest", "_pytest", "pluggy", "iniconfig", "coverage", "hypothesis", "nose2", "tox"})
"""Modules that a guard starts or that those bring along; on the import path, one of the candidate's would run in their place."""
NOT_NEW_BELOW = frozenset({".claude", ".codex", ".cursor", ".gemini", ".opencode", ".qwen"})


def refusal(
    path: str, before: Collection[str], after: Container[str], standard: Container[str], started: Container[str] = ()
) -> str | None:
    """Why a touched path may not be there, None where it may.

    `before` and `after` are the paths of the incumbent and of the candidate, `standard` the modules of Python's standard library,
    `started` those that a command of the contract names.
    """
    *folders, name = path.split("/")
    folded = name.casefold()
    if path not in after:
        return None  # taking such a file away is an ordinary change
    why = NEVER.get(folded) or next((w for end, w in NEVER_ENDING.items() if folded.endswith(end)), None)
    if why:
        return f"a file of this name is never taken: {why}"
    if path in before:
        return None
    why = NOT_NEW.get(folded) or ("agents obey what is in it" if NOT_NEW_BELOW & {f.casefold() for f in folders} else None)
    if why:
        return f"a new file of this name is not taken: {why}"
    folders, module = _module(folders, name)
    own = "Python's own" if module in standard else "the guards'" if module in TOOLS or module in started else None
    if own is None or _is_package(folders, before, after):
        return None
    return f"a new module of this name would stand in for {own} `{module}`"


def _module(folders: list[str], name: str) -> tuple[list[str], str | None]:
    """The module that a new file gives to whoever has the directory on the import path; None where it is no module."""
    if name == "__init__.py" and folders:
        folders, name = folders[:-1], f"{folders[-1]}.py"
    stem, dot, ending = name.partition(".")
    if not dot or ending.rpartition(".")[2] not in ("py", "so"):
        return folders, None
    return folders, stem


def _is_package(folders: list[str], before: Collection[str], after: Container[str]) -> bool:
    """Whether a directory is a package, which nobody has on the import path.

    A new `__init__.py` makes one of a new directory only: put into an old one, it may cover what is on the path.
    """
    inside = "/".join((*folders, "__init__.py"))
    if inside in before or inside not in after:
        return inside in before
    above = "/".join(folders) + "/"
    return bool(folders) and not any(path.startswith(above) for path in before)
