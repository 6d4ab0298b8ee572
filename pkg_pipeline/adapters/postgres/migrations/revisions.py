"""The revisions by their file names; loads no driver, for ``db status`` of a stopped server."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parent
BASE = "base"
"""No tables."""


class RevisionUnknown(ValueError):
    """No such revision, or none to go back to; the message lists what there is."""


def revisions() -> list[str]:
    """All revisions, oldest first; they are linear."""
    return sorted(path.name[:4] for path in (FOLDER / "versions").glob("[0-9][0-9][0-9][0-9]_*.py"))


def head() -> str:
    return revisions()[-1]


def check_revision(revision: str) -> None:
    """Raises RevisionUnknown."""
    if revision not in (BASE, *revisions()):
        raise RevisionUnknown(f"there is no revision {revision!r}; there are: {BASE}, {', '.join(revisions())}")
