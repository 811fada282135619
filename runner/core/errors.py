"""What stops the runner: each error carries what was found and how to mend it."""


class Stop(Exception):
    """A fault that the person has to see; `what` was found, `mend` is what to do about it.

    The command line prints `what` and `mend` and exits with `exit_code` (1: cannot go on, 2: wrong words or a bad contract).
    """

    exit_code = 1

    def __init__(self, what: str, mend: str = "") -> None:
        super().__init__(what if not mend else f"{what}\n  {mend}")
        self.what = what
        self.mend = mend


class ContractError(Stop):
    """The contract or the command line says something that cannot be meant."""

    exit_code = 2


class RepoError(Stop):
    """Git, or the state of a repository, does not allow the next step."""


class JournalError(Stop):
    """The journal cannot be read or written without losing something."""


class SandboxError(Stop):
    """The wanted confinement cannot be had on this machine."""


class CampaignError(Stop):
    """The campaign cannot go on: the incumbent, the evaluator or a guard is broken."""
