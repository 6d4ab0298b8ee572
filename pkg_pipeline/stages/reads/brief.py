"""A context in brief, on request (P7): chosen from the lines of the block by rule, or by what ``MakeBrief`` asks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pkg_pipeline.memory.context.brief import PARTS, BriefInput, BriefParts, brief_input, brief_text, chosen
from pkg_pipeline.memory.context.records import Block, BlockRules, ContextRows
from pkg_pipeline.memory.records import Language


@dataclass(frozen=True, slots=True)
class Brief:
    """``model`` None: made by rule, ``warning`` says why where a model was to be asked."""

    language: Language
    parts: BriefParts
    model: str | None = None
    prompt_version: str | None = None
    warning: str | None = None

    @property
    def text(self) -> str:
        return brief_text(self.parts, self.language)

    def to_json(self) -> dict[str, Any]:
        """Its parts with what each sentence rests on, without the text as a whole."""
        return {
            "parts": [
                {
                    "part": part,
                    "sentences": [
                        {"text": told.text, "items": [{"kind": kind, "id": key} for kind, key in told.items]}
                        for told in self.parts[part]
                    ],
                }
                for part in PARTS
            ],
            "model": self.model,
            "warning": self.warning,
        }


MakeBrief = Callable[[BriefInput], Brief]


def brief_of(rows: ContextRows, block: Block, rules: BlockRules, language: Language, make: MakeBrief) -> Brief:
    return make(brief_input(rows, block, rules, language))


def by_rule(source: BriefInput, warning: str | None = None) -> Brief:
    return Brief(source.language, chosen(source), warning=warning)
