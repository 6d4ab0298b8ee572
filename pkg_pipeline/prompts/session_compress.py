"""The prompt that tells a running summary shorter (L3): its version, answer model and schema. No client.

What the summary says goes back to other people's words and stands between fences (B15). Its words are in
``session_fold_text``.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from typing import Any

from pydantic import Field

from pkg_pipeline.memory.gate.normalise import word_count
from pkg_pipeline.memory.hashing import content_hash
from pkg_pipeline.memory.session.fold_records import CompressInput
from pkg_pipeline.prompts import fencing
from pkg_pipeline.prompts.answers import RenderedPrompt, Strict, plain_problem, read_answer
from pkg_pipeline.prompts.session_fold_text import COMMON
from pkg_pipeline.prompts.session_fold_text import COMPRESS as TEXTS

VERSION = "session_compress/1"
"""Stands in the ledger: an answer is kept under it (B8)."""

MAX_OUTPUT_TOKENS = 3000
"""Room for a running summary of the longest that the settings allow by default, by the worst tokenizer."""

SUMMARY_BLOCK = "SUMMARY"
FEWEST_WORDS = 10


class Answer(Strict):
    """What a model has to answer."""

    summary: str = Field(min_length=1, description="the same, shorter, in the order of events")


def schema() -> dict[str, Any]:
    """The answer's JSON schema as pydantic states it."""
    return Answer.model_json_schema()


def template_digest() -> str:
    """A hash of every word the prompt can say: it must not change while ``VERSION`` does not."""
    said = {language: [asdict(TEXTS[language]), COMMON[language].all_texts()] for language in sorted(TEXTS)}
    return hashlib.sha256(json.dumps([said, schema()], ensure_ascii=False, sort_keys=True).encode()).hexdigest()


def render(source: CompressInput, *, strict: bool = False, problem: str | None = None) -> RenderedPrompt:
    """The prompt for ``source``. A model knows words and characters rather than tokens: those are asked for."""
    wording, common = TEXTS[source.language], COMMON[source.language]
    paragraphs = [line for line in source.text.splitlines() if line.strip()]
    lines = (fencing.encode({"part": n, "text": text}) for n, text in enumerate(paragraphs, 1))
    parts = [
        wording.opening.format(parts=len(paragraphs), amount=_amount(source)),
        fencing.fence(SUMMARY_BLOCK, lines, seed=content_hash(source.text)),
        wording.closing,
    ]
    if strict:
        schema_text = json.dumps(schema(), ensure_ascii=False, separators=(",", ":"))
        parts.append(common.strict.format(problem=plain_problem(problem) or common.unnamed_problem, schema=schema_text))
    return RenderedPrompt(system=f"{wording.rules}\n{wording.answer_in}", user="\n\n".join(parts))


def parse(text: str) -> Answer:
    """The model's words as an ``Answer``. Raises ``AnswerInvalid`` for anything but exact JSON of the schema."""
    return read_answer(text, Answer)


def _amount(source: CompressInput) -> str:
    """The target by the text's own tokens a word."""
    size = len(source.text) if source.language == "zh" else word_count(source.text)
    count = round(size * source.target_tokens / max(1, source.source_tokens))
    return TEXTS[source.language].amount.format(count=max(FEWEST_WORDS, count))
