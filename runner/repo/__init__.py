"""The only room that speaks git."""

from runner.repo.branch import advance, branch_tip, in_the_way, protect
from runner.repo.nouns import Imported, Signature, Snapshot, TreeEntry, UserRepo
from runner.repo.pristine import THEN, discard, hide, made, record, seal, signature, snapshot, verify
from runner.repo.private import Private, open_private
from runner.repo.user import discover, last_commit_of, unclean

__all__ = [
    "THEN",
    "Imported",
    "Private",
    "Signature",
    "Snapshot",
    "TreeEntry",
    "UserRepo",
    "advance",
    "branch_tip",
    "discard",
    "discover",
    "hide",
    "in_the_way",
    "last_commit_of",
    "made",
    "open_private",
    "protect",
    "record",
    "seal",
    "signature",
    "snapshot",
    "unclean",
    "verify",
]
