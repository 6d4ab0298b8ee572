"""What the stages need from the world, as Protocols they own. Adapters implement them; nothing here does I/O."""

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
    """A call that gave no usable answer. ``usage`` is what it cost all the same, where the API said so."""

    def __init__(self, message: str, *, usage: Usage | None = None, request_id: str | None = None) -> None:
        super().__init__(message)
        self.usage = usage
        self.request_id = request_id


class LlmUnavailable(LlmError):
    """Transport, overload or quota (P19): defers the work without counting as an attempt.

    ``retry_after_seconds`` is what the service asked for, where it did.
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
    """The request went out and no whole answer came: it may have been charged. Not repeated by the adapter, so that
    every such call has a reservation of its own.
    """


class LlmMisconfigured(LlmError):
    """Key, permission, billing or model is wrong: stops the run, since every further call would fail alike."""


class LlmTooLong(LlmError):
    """The prompt does not fit the model's window, or the answer did not fit its limit twice: use smaller windows."""


class LlmRejected(LlmError):
    """One request was refused (400, 413): counts as an attempt, stops nobody else."""


class LlmRefused(LlmError):
    """The model declined to answer; ``category`` is its reason. Not repeated."""

    def __init__(
        self, message: str, *, category: str | None = None, usage: Usage | None = None, request_id: str | None = None
    ) -> None:
        super().__init__(message, usage=usage, request_id=request_id)
        self.category = category


Lane = Literal["live", "backfill"]
"""Each lane has caps of its own (P32)."""

SubjectKind = Literal["interaction", "profile", "question", "session"]


@dataclass(frozen=True, slots=True)
class Subject:
    """What a call is about; forget follows it (B3). A profile's id is that of its row, one entity in one week; a
    question's is made of its words (``hashing.question_id``), which are kept nowhere; a session's is its chat's.
    """

    kind: SubjectKind
    id: UUID


@dataclass(frozen=True, slots=True)
class Billing:
    """On whose account a call is: goes into its reservation and into every row of it in the ledger (B6, P32)."""

    lane: Lane = "live"
    run_id: str | None = None
    backfill_id: UUID | None = None


LlmTask = Literal[
    "interaction_summary",
    "interaction_summary_update",
    "interaction_summary_merge",
    "relationship_profile",
    "question_rewrite",
    "session_fold",
    "session_compress",
]


@dataclass(frozen=True, slots=True)
class LlmRequest:
    """One question to a model.

    ``schema`` is the JSON schema the answer must follow. ``payload`` is the structured input that ``system`` and
    ``user`` were rendered from: a remote model never sees it, the offline summariser reads nothing else.
    ``subject`` and ``billing`` go into the ledger with every try; no model sees them.
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


@dataclass(frozen=True, slots=True)
class LlmReply:
    """The model's words, not validated: ``text`` should be JSON of the request's schema."""

    text: str
    model: str
    usage: Usage
    stop_reason: str
    request_id: str | None = None
    duration_seconds: float = 0.0
    tries: int = 1


LlmOutcome = Literal[
    "ok", "truncated", "refused", "too_long", "empty", "unknown", "unavailable", "rejected", "misconfigured"
]


@dataclass(frozen=True, slots=True)
class LlmAttempt:
    """One try of a call, as the ledger keeps it (B6): reported before its answer is looked at, whatever came of it.

    ``usage`` is None where the service said nothing of tokens. ``cost_usd`` is 0.0 then, except for the outcome
    ``unknown`` (the connection broke, the time was up, the answer was cut): that try may have been charged, and costs
    the most it can. ``request_hash`` is the same for all tries.
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


class Llm(Protocol):
    """A summarising model. ``model`` is the exact name that goes into summaries, ledger and replay key."""

    @property
    def model(self) -> str: ...

    @property
    def is_paid(self) -> bool:
        """Whether the caps of P12 and P32 apply."""
        ...

    @property
    def window_tokens(self) -> int:
        """The largest prompt the model takes."""
        ...

    def complete(self, request: LlmRequest) -> LlmReply:
        """Raises an ``LlmError``; never returns an empty reply."""
        ...

    def price(self, usage: Usage) -> float:
        """USD for this usage by the dated price table; 0.0 offline."""
        ...


# ── the embedder ──────────────────────────────────────────────────────────────────────────────


class EmbedderError(Exception):
    """No vectors came. The message never holds a word of the texts."""


class EmbedderUnavailable(EmbedderError):
    """Transport, overload or quota: the work is put off, the search goes on by keywords (L10).

    ``retry_after_seconds`` is what the service asked for, where it did.
    """

    def __init__(self, message: str, *, retry_after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_seconds = retry_after_seconds


class EmbedderMisconfigured(EmbedderError):
    """Key, address, model or the size of its vectors is wrong: every further call would fail alike."""


Vectors: TypeAlias = "NDArray[np.float32]"
"""float32 (texts, dimensions)."""


class EmbedderRejected(EmbedderError):
    """Some texts were refused for what they hold, or their vectors came back unusable: stops nobody else.

    ``positions`` are theirs in the call, ascending. ``vectors`` has those of all the others in place, zero for the
    refused: a worker stores them, marks the refused and goes on; nothing that was paid for is asked for twice.
    """

    def __init__(self, message: str, *, positions: Sequence[int], vectors: Vectors) -> None:
        super().__init__(message)
        self.positions = tuple(positions)
        self.vectors = vectors


class Embedder(Protocol):
    """Texts to vectors. ``model`` names the vector space: two models never share one (B4)."""

    @property
    def model(self) -> str:
        """``offline:NAME`` or ``openai:NAME``: goes beside every vector."""
        ...

    @property
    def dimensions(self) -> int | None:
        """None until the first answer, where only the service knows."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One vector of length 1 a text, in their order, finite, all of ``dimensions``. Raises an ``EmbedderError``.

        An empty text, or one that the model sees nothing in, has the vector zero: it is near nothing. Every other error
        than ``EmbedderRejected`` loses the vectors of the whole call: hand over what may be lost, a hundred or two.
        """
        ...


class TokenCounter(Protocol):
    """Counts tokens; ``name`` goes into receipts."""

    @property
    def name(self) -> str: ...

    def count(self, text: str) -> int: ...

    def count_many(self, texts: Sequence[str]) -> list[int]: ...


class TermAnalyzer(Protocol):
    """Cuts text into the terms that words are found by, the same for chunks and questions; used from many threads."""

    def terms(self, text: str) -> list[str]:
        """In order, repeated as often as they occur, without stop words; takes any text, none is an error."""
        ...


class Clock(Protocol):
    """Decides age, tiers and eligibility (``PKG_NOW``); leases and ledger use the database's own clock."""

    def now(self) -> datetime: ...
