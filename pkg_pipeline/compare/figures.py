"""What a conversation takes in a model's prompts, with compression and without, turn by turn (T3, T4). Pure figures.

A turn is one question to the model: what was said since its last answer, and the answer. Prices are looked up by who
calls; how a conversation is played is the stage's, how it looks is the command line's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate, groupby
from typing import Any, NamedTuple

from pkg_pipeline.memory.session.records import SessionMessage


@dataclass(frozen=True, slots=True)
class FoldUse:
    """One fold and what making it took, calls for the running summary and for a second try included."""

    trigger: str
    messages: int
    calls: int
    input_tokens: int
    output_tokens: int
    usd: float


@dataclass(frozen=True, slots=True)
class TurnUse:
    """One turn in both modes.

    ``number`` counts from 1, ``message_id`` is the external id of the first message of the answer.
    ``prompt_tokens`` is the compressed prompt, ``hypothetical_tokens`` all that was said so far; both hold the system
    prompt. ``completion_tokens`` is the real answer's, the same in both. ``folds`` are those that its messages caused.
    """

    number: int
    message_id: str
    at: datetime
    prompt_tokens: int
    hypothetical_tokens: int
    completion_tokens: int
    usd: float
    hypothetical_usd: float
    folds: tuple[FoldUse, ...] = ()

    @property
    def fold_usd(self) -> float:
        return sum(fold.usd for fold in self.folds)

    @property
    def fold_tokens(self) -> int:
        return sum(fold.input_tokens + fold.output_tokens for fold in self.folds)


class Spent(NamedTuple):
    """USD up to a turn and with it: the compressed conversation with its folds, and the uncompressed one."""

    usd: float
    hypothetical_usd: float


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over all turns. ``*_percent`` of the uncompressed conversation; a negative saving is a loss."""

    turns: int
    prompt_tokens: int
    hypothetical_tokens: int
    completion_tokens: int
    folds: int
    folded_messages: int
    fold_tokens: int
    fold_usd: float
    usd: float
    hypothetical_usd: float

    @property
    def mean_prompt_tokens(self) -> float:
        return self.prompt_tokens / self.turns if self.turns else 0.0

    @property
    def mean_hypothetical_tokens(self) -> float:
        return self.hypothetical_tokens / self.turns if self.turns else 0.0

    @property
    def saved_tokens_percent(self) -> float:
        """Of the prompts; what folds took counts against it."""
        return _saved(self.prompt_tokens + self.fold_tokens, self.hypothetical_tokens)

    @property
    def saved_usd_percent(self) -> float:
        return _saved(self.usd, self.hypothetical_usd)

    def to_json(self) -> dict[str, Any]:
        return {
            "turns": self.turns,
            "prompt_tokens": self.prompt_tokens,
            "hypothetical_tokens": self.hypothetical_tokens,
            "completion_tokens": self.completion_tokens,
            "mean_prompt_tokens": round(self.mean_prompt_tokens, 1),
            "mean_hypothetical_tokens": round(self.mean_hypothetical_tokens, 1),
            "folds": self.folds,
            "folded_messages": self.folded_messages,
            "fold_tokens": self.fold_tokens,
            "fold_usd": self.fold_usd,
            "usd": self.usd,
            "hypothetical_usd": self.hypothetical_usd,
            "saved_tokens_percent": round(self.saved_tokens_percent, 1),
            "saved_usd_percent": round(self.saved_usd_percent, 1),
        }


def answers(messages: Sequence[SessionMessage]) -> list[tuple[int, int]]:
    """Half-open ranges of the messages that a model would have answered with: a question to it stands before each.

    With roles, the assistant's messages in a row. Where people talk, those of others behind words of the memory's
    owner; where none of them is the owner, whatever one says behind another.
    """
    speakers: Sequence[object]
    is_any = False
    if any(message.role == "assistant" for message in messages):
        speakers = [message.role == "assistant" for message in messages]
    elif any(message.is_self for message in messages):
        speakers = [not message.is_self for message in messages]
    else:
        speakers, is_any = [message.sender_entity_id or message.sender_name for message in messages], True
    found: list[tuple[int, int]] = []
    start = 0
    for speaker, run in groupby(speakers):
        end = start + sum(1 for _ in run)
        if start and (is_any or speaker):
            found.append((start, end))
        start = end
    return found


def spent(turns: Sequence[TurnUse]) -> list[Spent]:
    """What was paid up to each turn, in their order."""
    compressed = accumulate(turn.usd + turn.fold_usd for turn in turns)
    uncompressed = accumulate(turn.hypothetical_usd for turn in turns)
    return [Spent(*both) for both in zip(compressed, uncompressed, strict=True)]


def pays_from(turns: Sequence[TurnUse]) -> int | None:
    """The number of the turn from which on all that was paid, folds included, is less than without compression, and
    stays less to the end; None where it never does.
    """
    found: int | None = None
    for turn, paid in zip(reversed(turns), reversed(spent(turns)), strict=True):
        if paid.usd >= paid.hypothetical_usd:
            break
        found = turn.number
    return found


def overflows_from(turns: Sequence[TurnUse], available_tokens: int) -> int | None:
    """The number of the first turn whose uncompressed prompt is more than the model takes; None where all fit."""
    return next((turn.number for turn in turns if turn.hypothetical_tokens > available_tokens), None)


def totals(turns: Sequence[TurnUse]) -> Totals:
    """Sums over ``turns``."""
    folds = [fold for turn in turns for fold in turn.folds]
    fold_usd = sum(fold.usd for fold in folds)
    return Totals(
        turns=len(turns),
        prompt_tokens=sum(turn.prompt_tokens for turn in turns),
        hypothetical_tokens=sum(turn.hypothetical_tokens for turn in turns),
        completion_tokens=sum(turn.completion_tokens for turn in turns),
        folds=len(folds),
        folded_messages=sum(fold.messages for fold in folds),
        fold_tokens=sum(fold.input_tokens + fold.output_tokens for fold in folds),
        fold_usd=fold_usd,
        usd=sum(turn.usd for turn in turns) + fold_usd,
        hypothetical_usd=sum(turn.hypothetical_usd for turn in turns),
    )


def sampled(turns: Sequence[TurnUse], most: int, *, keep: Sequence[int | None] = ()) -> Iterator[TurnUse]:
    """At most ``most`` turns spread evenly, the first and the last among them, and those numbered in ``keep``."""
    if len(turns) <= most:
        yield from turns
        return
    steps = max(most - 1, 1)
    chosen = {round(step * (len(turns) - 1) / steps) for step in range(steps + 1)}
    for place, turn in enumerate(turns):
        if place in chosen or turn.number in keep:
            yield turn


def _saved(used: float, without: float) -> float:
    return 100.0 * (1.0 - used / without) if without else 0.0
