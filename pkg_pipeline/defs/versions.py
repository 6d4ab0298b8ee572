"""What makes summaries, profiles and chunks stale (B5): versions of prompts, rules and models that stand in the code.

The remote model is a setting; its name is in every summary's own row, and the stage compares it there.
"""

from __future__ import annotations


def summaries_code_version() -> str:
    """``PROMPTS+MODEL``; changes with any of them."""
    from pkg_pipeline.offline import MODEL as OFFLINE_MODEL
    from pkg_pipeline.prompts.versions import CURRENT_VERSIONS

    return "+".join((*sorted(CURRENT_VERSIONS), OFFLINE_MODEL))


def chunks_code_version() -> str:
    """The rules of indexing. Which model's vectors there are is a matter of spaces, not of code (B4)."""
    from pkg_pipeline.memory.recall.records import INDEX_VERSION

    return INDEX_VERSION


def folds_code_version() -> str:
    """``PROMPTS+MODEL``; changes with any of them."""
    from pkg_pipeline.offline import MODEL as OFFLINE_MODEL
    from pkg_pipeline.prompts import session_compress, session_fold

    return "+".join((session_compress.VERSION, session_fold.VERSION, OFFLINE_MODEL))


def profiles_code_version() -> str:
    """``PROMPT+MODEL``; changes with either."""
    from pkg_pipeline.offline import MODEL as OFFLINE_MODEL
    from pkg_pipeline.prompts import relationship_profile

    return f"{relationship_profile.VERSION}+{OFFLINE_MODEL}"
