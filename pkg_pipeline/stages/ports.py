"""Ports: Protocols that adapters implement, and their records and errors. No I/O here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias
from uuid import UUID

from pkg_pipeline.memory.records import Usage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# ── the language model ────────────────────────────────────────────────────────────────────────


class LlmError(Exception):
    """A call without a usable answer; ``usage`` is what it used, if reported."""

    def __init__(self, message: str, *, usage: Usage | None = None, request_id: str | None = None) -> None:
        super().__init__(message)
        self.usage = usage
        self.request_id = request_id


class LlmUnavailable(LlmError):
    """Transport, overload or quota (P19): defers the work, counts as no attempt. ``retry_after_seconds``: if the
    service named it.
    """

    def __init__(
        self,
        message: str,
        *,
        retry_after_seconds: float | None = None,
        usage: Usage | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(message, usage=usage, request_id=request_id)
        self.retry_after_seconds = retry_after_seconds


class LlmUnanswered(LlmUnavailable):
    """Sent, but no whole answer came; it may be charged. Not retried by the adapter: each try needs its own
    reservation.
    """


class LlmMisconfigured(LlmError):
    """Key, permission, billing or model is wrong: stops the run."""


class LlmTooLong(LlmError):
    """The prompt exceeds the model's window, or the answer its limit twice: use smaller windows."""


class LlmRejected(LlmError):
    """One request was rejected (400, 413): counts as an attempt."""


class LlmRefused(LlmError):
    """The model declined; ``category`` is its reason. Not retried."""

    def __init__(
        self, message: str, *, category: str | None = None, usage: Usage | None = None, request_id: str | None = None
    ) -> None:
        super().__init__(message, usage=usage, request_id=request_id)
        self.category = category


Lane = Literal["live", "backfill"]
"""Each has its own caps (P32)."""

SubjectKind = Literal["interaction", "profile", "question", "session", "brief"]


@dataclass(frozen=True, slots=True)
class Subject:
    """What a call is about, so that forget can delete it (B3). Ids: a profile's row, ``hashing.question_id`` of a
    question, a session's chat, the person of a brief.
    """

    kind: SubjectKind
    id: UUID


@dataclass(frozen=True, slots=True)
class Billing:
    """The account of a call, in its reservation and ledger rows (B6, P32)."""

    lane: Lane = "live"
    run_id: str | None = None
    backfill_id: UUID | None = None


LlmTask = Literal[
    "conversation_reading",
    "interaction_summary",
    "interaction_summary_update",
    "interaction_summary_merge",
    "relationship_profile",
    "question_rewrite",
    "session_fold",
    "session_compress",
    "context_brief",
]


@dataclass(frozen=True, slots=True)
class LlmRequest:
    """One request to a model; ``schema`` is the answer's JSON schema.

    ``payload`` is the data rendered in ``system`` and ``user``, read only by the offline summariser. ``subject``,
    further ones that it is about (``also``) and ``billing`` are for the ledger; no model sees them.
    """

    task: LlmTask
    prompt_version: str
    system: str
    user: str
    schema: Mapping[str, Any]
    max_output_tokens: int
    payload: Any = field(repr=False)
    subject: Subject | None = None
    billing: Billing = field(default_factory=Billing)
    also: tuple[Subject, ...] = ()


@dataclass(frozen=True, slots=True)
class LlmReply:
    """The unvalidated answer; ``text`` should be JSON of the schema. ``counted_tokens``: of the prompt, as we count."""

    text: str
    model: str
    usage: Usage
    stop_reason: str
    request_id: str | None = None
    duration_seconds: float = 0.0
    tries: int = 1
    counted_tokens: int | None = None


LlmOutcome = Literal[
    "ok", "truncated", "refused", "too_long", "empty", "unknown", "unavailable", "rejected", "misconfigured"
]


@dataclass(frozen=True, slots=True)
class LlmAttempt:
    """One try of a call for the ledger (B6), recorded before its answer is validated.

    ``usage`` None: not reported; then ``cost_usd`` is 0.0, but for the outcome ``unknown`` (no whole answer) the most
    it can cost. All tries share ``request_hash``.
    """

    task: str
    model: str
    prompt_version: str
    subject: Subject | None
    billing: Billing
    request_hash: str
    outcome: LlmOutcome
    usage: Usage | None
    cost_usd: float
    duration_seconds: float
    request_id: str | None = None
    stop_reason: str | None = None
    status_code: int | None = None
    counted_tokens: int | None = None


class Llm(Protocol):
    """A language model; ``model`` is the name in summaries, ledger and replay key."""

    @property
    def model(self) -> str: ...

    @property
    def is_paid(self) -> bool:
        """Whether the caps of P12 and P32 apply."""
        ...

    @property
    def window_tokens(self) -> int:
        """The largest prompt."""
        ...

    def complete(self, request: LlmRequest) -> LlmReply:
        """Raises an ``LlmError``; never returns an empty reply."""
        ...

    def price(self, usage: Usage) -> float:
        """USD by the dated price table; 0.0 offline."""
        ...


# ── the embedder ──────────────────────────────────────────────────────────────────────────────


class EmbedderError(Exception):
    """No vectors; the message holds no text."""


class EmbedderUnavailable(EmbedderError):
    """Transport, overload or quota: work is deferred, search goes on by keywords (L10). ``retry_after_seconds``: if the
    service named it.
    """

    def __init__(self, message: str, *, retry_after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class EmbedderMisconfigured(EmbedderError):
    """Key, address, model or vector size is wrong: every call would fail."""


Vectors: TypeAlias = "NDArray[np.float32]"
"""float32 (texts, dimensions)."""


class EmbedderRejected(EmbedderError):
    """Some texts were rejected, or their vectors are unusable. ``positions``: theirs in the call, ascending.

    ``vectors`` has all others in place, zero for the rejected; callers store them, so nothing is paid twice.
    """

    def __init__(self, message: str, *, positions: Sequence[int], vectors: Vectors) -> None:
        super().__init__(message)
        self.positions = tuple(positions)
        self.vectors = vectors


class Embedder(Protocol):
    """Texts → vectors; each model has its own vector space (B4)."""

    @property
    def model(self) -> str:
        """``offline:NAME`` or ``openai:NAME``; stored with every vector."""
        ...

    @property
    def dimensions(self) -> int | None:
        """None until the first answer if only the service knows."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One unit vector per text, in order, finite; zero for a text without content. Raises an ``EmbedderError``.

        Errors other than ``EmbedderRejected`` lose the whole call: pass a hundred or two texts.
        """
        ...


class TokenCounter(Protocol):
    """Counts tokens; ``name`` goes into receipts."""

    @property
    def name(self) -> str: ...

    def count(self, text: str) -> int: ...

    def count_many(self, texts: Sequence[str]) -> list[int]: ...


class TermAnalyzer(Protocol):
    """Splits text into search terms, the same for chunks and questions; thread-safe."""

    def terms(self, text: str) -> list[str]:
        """In order, with repetitions, without stop words; accepts any text."""
        ...


class Clock(Protocol):
    """The time for age, tiers and eligibility (``PKG_NOW``); leases and ledger use the database clock."""

    def now(self) -> datetime: ...
