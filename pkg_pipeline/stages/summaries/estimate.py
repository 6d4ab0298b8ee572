"""What summarising would cost, before anything is asked. What it did cost is the ledger's business."""

from __future__ import annotations

from dataclasses import dataclass

from pkg_pipeline.memory.records import Usage
from pkg_pipeline.stages.ports import Llm
from pkg_pipeline.stages.summaries.stores import Waiting

PROMPT_TOKENS = 2_200
"""Instructions, participants and schema around the conversation, fitted on the 196 prompts of the demo account."""

MESSAGE_TOKENS = 45
"""Number, speaker, time and JSON around each message of the prompt, and what a model's own tokenizer makes more of its
text than ours, fitted likewise."""

ANSWER_TOKENS = 300
"""A usual answer: the local server's have 195, a talkative model's half as many again and more."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What summarising all that is due would take: ``tokens`` in and out together, ``usd`` by today's prices.

    ``later`` interactions are too young, or put off until another try; they are in none of the other figures.
    """

    interactions: int
    tokens: int
    usd: float
    later: int = 0

    def to_json(self) -> dict[str, float | int]:
        return {
            "interactions": self.interactions,
            "tokens": self.tokens,
            "usd": round(self.usd, 4),
            "later": self.later,
        }


def estimate(llm: Llm, waiting: Waiting) -> Estimate:
    """The price of summarising all that is due."""
    tokens_in = waiting.prompts * PROMPT_TOKENS + waiting.messages * MESSAGE_TOKENS + waiting.message_tokens
    tokens_out = waiting.prompts * ANSWER_TOKENS
    usd = 0.0
    if waiting.prompts and llm.is_paid:
        # by the prompt: a price may step up with a prompt's length
        each = Usage(round(tokens_in / waiting.prompts), round(tokens_out / waiting.prompts))
        usd = llm.price(each) * waiting.prompts
    return Estimate(interactions=waiting.interactions, tokens=tokens_in + tokens_out, usd=usd, later=waiting.later)
