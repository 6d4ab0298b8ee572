"""What makes summaries and profiles stale (B5): the prompt's version and the offline model's, which stand in the code.

The remote model is a setting; its name is in every summary's own row, and the stage compares it there.
"""

from __future__ import annotations


def summaries_code_version() -> str:
    """``PROMPTS+MODEL``; changes with any of them."""
    from pkg_pipeline.adapters.offline.version import MODEL as OFFLINE_MODEL
    from pkg_pipeline.prompts.versions import CURRENT_VERSIONS

    return "+".join((*sorted(CURRENT_VERSIONS), OFFLINE_MODEL))


def profiles_code_version() -> str:
    """``PROMPT+MODEL``; changes with either."""
    from pkg_pipeline.adapters.offline.version import MODEL as OFFLINE_MODEL
    from pkg_pipeline.prompts import relationship_profile

    return f"{relationship_profile.VERSION}+{OFFLINE_MODEL}"
