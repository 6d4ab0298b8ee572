"""The result of a control run as JSON and in words."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from pkg_pipeline.compare.figures import Totals, TurnUse, overflows_from, pays_from, spent, totals
from pkg_pipeline.compare.playing import CompareSettings, Conversation, Played


@dataclass(frozen=True, slots=True)
class Compared:
    """``model`` answers, ``fold_model`` folds, priced as ``fold_priced_as`` if free; ``prices``: version of the price
    table.
    """

    conversation: Conversation
    settings: CompareSettings
    played: Played
    model: str
    fold_model: str
    fold_priced_as: str
    prices: str
    counted_by: str

    @property
    def turns(self) -> list[TurnUse]:
        return self.played.turns

    @property
    def totals(self) -> Totals:
        return totals(self.played.turns)

    @property
    def pays_from(self) -> int | None:
        return pays_from(self.played.turns)

    @property
    def overflows_from(self) -> int | None:
        budget = self.settings.budget
        return overflows_from(self.played.turns, budget.available + budget.system)

    def outcome(self) -> str:
        found, turn = self.totals, self.pays_from
        paid = (
            f"{found.usd:.4f} USD with {found.fold_usd:.4f} for folds, {found.hypothetical_usd:.4f} without compression"
        )
        if turn is None:
            said = f"Compression never pays here: {paid}."
        else:
            said = f"Compression pays from turn {turn:,} of {found.turns:,} on: {paid}."
        if self.overflows_from is not None:
            said += f" Uncompressed, the conversation outgrows the model's window at turn {self.overflows_from:,}."
        return said

    def to_json(self) -> dict[str, Any]:
        settings, budget = self.settings, self.settings.budget
        return {
            "conversation": self.conversation.key,
            "title": self.conversation.title,
            "messages": len(self.conversation.messages),
            "model": self.model,
            "fold_model": self.fold_model,
            "fold_priced_as": self.fold_priced_as,
            "prices": self.prices,
            "counted_by": self.counted_by,
            "policy": settings.policy,
            "strategy": settings.strategy,
            "budget": {name: value for name, value in asdict(budget).items() if name != "calibration"},
            "pays_from": self.pays_from,
            "overflows_from": self.overflows_from,
            "totals": self.totals.to_json(),
            "turns": self.rows(),
            "skipped_turns": self.played.skipped,
            "warnings": self.played.warnings,
        }

    def rows(self) -> list[dict[str, Any]]:
        return [
            {
                "turn": turn.number,
                "message_id": turn.message_id,
                "at": turn.at.isoformat(),
                "prompt_tokens": turn.prompt_tokens,
                "hypothetical_tokens": turn.hypothetical_tokens,
                "completion_tokens": turn.completion_tokens,
                "usd": turn.usd,
                "hypothetical_usd": turn.hypothetical_usd,
                "folds": len(turn.folds),
                "triggers": [fold.trigger for fold in turn.folds],
                "fold_tokens": turn.fold_tokens,
                "fold_usd": turn.fold_usd,
                "cumulative_usd": paid.usd,
                "cumulative_hypothetical_usd": paid.hypothetical_usd,
            }
            for turn, paid in zip(self.turns, spent(self.turns), strict=True)
        ]
