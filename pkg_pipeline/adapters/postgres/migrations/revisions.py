"""Which revisions the tables can be at, told from the names of the files. Applying them is ``migrate.py``.

No driver is loaded for it: ``db status`` of a stopped server needs only this.
"""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent
BASE = "base"
"""The state before any revision: no tables."""


class RevisionUnknown(ValueError):
    """No such revision, or not one to go back to; the message lists what there is."""


def revisions() -> list[str]:
    """All revisions, oldest first: the numbers of ``versions/NNNN_*.py``; they are linear."""
    return sorted(path.name[:4] for path in (FOLDER / "versions").glob("[0-9][0-9][0-9][0-9]_*.py"))


def head() -> str:
    """The newest revision."""
    return revisions()[-1]


def check_revision(revision: str) -> None:
    """Raises RevisionUnknown."""
    if revision not in (BASE, *revisions()):
        raise RevisionUnknown(f"there is no revision {revision!r}; there are: {BASE}, {', '.join(revisions())}")
