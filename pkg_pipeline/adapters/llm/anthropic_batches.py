"""``LlmBatches`` over the Message Batches of the Anthropic API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Final

from anthropic import AnthropicError, APIConnectionError, APIStatusError
from anthropic.types.messages import MessageBatch, MessageBatchIndividualResponse

from pkg_pipeline.adapters.llm.anthropic_llm import CHECK, AnthropicLlm, told_by
from pkg_pipeline.adapters.llm.errors import TOO_LONG, of_connection, of_status
from pkg_pipeline.adapters.llm.retrying import Transient
from pkg_pipeline.memory.records import Usage
from pkg_pipeline.stages.llm.batch_ports import BatchGone, BatchOutcome, BatchReply, BatchSeen, Size
from pkg_pipeline.stages.ports import LlmError, LlmRequest, LlmUnanswered, LlmUnavailable

LOOK_SECONDS: Final = 10.0
"""For a question about a batch."""

SEND_SECONDS: Final = 300.0
"""For the prompts of a batch."""

NO_SUCH_ROUTE: Final = frozenset({404, 405, 501})
_NOT_TAKEN: Final = frozenset({429, 503, 529})
"""Refused before anything was made."""

_REJECTED: Final = frozenset({"invalid_request_error", "request_too_large"})


class AnthropicBatches:
    """Batches with the key, model and prices of ``llm``."""

    def __init__(self, llm: AnthropicLlm, *, is_known: bool) -> None:
        """``is_known`` False: a server of one's own, which is asked whether it has batches."""
        self._llm = llm
        self._are_served: bool | None = True if is_known else None

    def are_served(self) -> bool:
        if self._are_served is None:
            try:
                page = self._looks().list(limit=1)
                self._are_served = isinstance(page.data, list)  # pyright: ignore[reportUnnecessaryIsInstance]
            except APIStatusError as error:
                if error.status_code not in NO_SUCH_ROUTE:
                    return False  # it may be asked again
                self._are_served = False
            except (AnthropicError, ValueError, TypeError, AttributeError):
                return False
        return self._are_served

    def price(self, usage: Usage) -> float:
        return self._llm.batch_price(usage)

    def create(self, requests: Sequence[tuple[str, LlmRequest]]) -> str:
        made: Any = [
            {"custom_id": name, "params": self._llm.params(request, request.max_output_tokens)}
            for name, request in requests
        ]
        with _failures():
            batch = self._looks(SEND_SECONDS).create(requests=made)
        if not _is_batch(batch):
            raise LlmUnanswered("a success without a batch in it")
        return batch.id

    def seen(self, batch_id: str) -> BatchSeen:
        with _failures(of_one=True):
            batch = self._looks().retrieve(batch_id)
        if not _is_batch(batch):
            raise LlmUnavailable("a success without a batch in it")
        if batch.archived_at is not None:
            raise BatchGone("the service keeps the results of the batch no longer")
        return _seen(batch)

    def since(self, moment: datetime) -> Iterator[BatchSeen]:
        with _failures():
            for batch in self._looks().list(limit=100):
                if batch.created_at < moment:
                    return
                yield _seen(batch)

    def replies(self, batch_id: str, sizes: Mapping[str, Size]) -> list[BatchReply]:
        with _failures(of_one=True):
            lines = self._llm.client.messages.batches.results(batch_id)
            return [self._reply(line, sizes.get(line.custom_id)) for line in lines]

    def cancel(self, batch_id: str) -> None:
        with _failures(of_one=True):
            self._looks().cancel(batch_id)

    def delete(self, batch_id: str) -> None:
        with _failures(of_one=True):
            self._looks().delete(batch_id)

    def _looks(self, seconds: float = LOOK_SECONDS) -> Any:
        return self._llm.client.with_options(timeout=seconds).messages.batches

    def _reply(self, line: MessageBatchIndividualResponse, size: Size | None) -> BatchReply:
        name, result = line.custom_id, line.result
        if size is None:
            return BatchReply(name, "unknown")
        match result.type:
            case "succeeded":
                answer = self._llm.answer_of(result.message)
                if answer is None:
                    return BatchReply(name, "unknown", error="a success without an answer in it")
                reply, outcome, failure = self._llm.judged(answer, size.prompt_tokens, size.room)
                return BatchReply(name, outcome, reply.text, reply.usage, None if failure is None else str(failure))
            case "errored":
                error = result.error.error
                words = error.message if isinstance(error.message, str) else ""  # pyright: ignore[reportUnnecessaryIsInstance]
                return BatchReply(name, _outcome(error.type, words), error=f"the service answered {error.type}")
            case "expired" | "canceled" as ended:
                return BatchReply(name, ended)


@contextmanager
def _failures(*, of_one: bool = False) -> Iterator[None]:
    """Errors of the SDK as ours; ``of_one``: a batch that may be unknown. Never the exception itself, which may quote
    texts.
    """
    try:
        yield
    except LlmError:
        raise
    except Exception as error:  # noqa: BLE001 - of the SDK, of HTTP, of a body that is cut: they have no base of their own
        raise _failure(error, of_one=of_one) from None


def _failure(error: Exception, *, of_one: bool) -> LlmError:
    match error:
        case APIStatusError() if of_one and error.status_code == 404:
            return BatchGone("the service does not know the batch")
        case APIStatusError():
            failure = of_status(told_by(error), request=None, now=datetime.now(UTC), check=CHECK)
            if error.status_code >= 500 and error.status_code not in _NOT_TAKEN:
                return LlmUnanswered(str(failure))  # it may have been done
        case APIConnectionError():
            failure = of_connection(error)
        case _:
            return LlmUnanswered(f"the answer cannot be read ({type(error).__name__})")
    if isinstance(failure, Transient):
        return LlmUnavailable(str(failure), retry_after_seconds=failure.retry_after_seconds)
    return failure


def _seen(batch: MessageBatch) -> BatchSeen:
    counts = batch.request_counts
    questions = counts.processing + counts.succeeded + counts.errored + counts.canceled + counts.expired
    return BatchSeen(batch.id, batch.created_at, batch.processing_status == "ended", questions)


def _is_batch(found: object) -> bool:
    return isinstance(found, MessageBatch) and isinstance(found.id, str)  # pyright: ignore[reportUnnecessaryIsInstance]


def _outcome(kind: str, words: str) -> BatchOutcome:
    if kind not in _REJECTED:
        return "unavailable"
    return "too_long" if kind == "request_too_large" or TOO_LONG.search(words) else "rejected"
