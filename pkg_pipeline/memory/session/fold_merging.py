"""How folds of consecutive stretches become one (H13's smaller window). Pure: no item is lost, none is said twice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest

from pkg_pipeline.memory.gate.normalise import fold, sentences, word_count
from pkg_pipeline.memory.records import SummaryContent
from pkg_pipeline.memory.session.fold_gate import MAX_SENTENCES, MAX_TOPICS, same_question
from pkg_pipeline.memory.session.fold_records import FoldInput
from pkg_pipeline.memory.session.records import FoldContent, OpenQuestion
from pkg_pipeline.memory.summary.gate import MAX_WORDS
from pkg_pipeline.memory.summary.merging import merge_windows


def merge_folds(parts: Sequence[FoldContent], source: FoldInput) -> FoldContent:
    """One content from those of consecutive parts of ``source``; needs at least one.

    The summary is theirs joined in order; what is beyond an answer's limits of words and sentences gives way from the
    ends of the parts. All items are kept, each once.
    """
    if len(parts) == 1:
        return parts[0]
    contents = [
        SummaryContent(
            summary=part.summary,
            key_points=part.topics,
            tone="neutral",
            decisions=part.decisions,
            action_items=(),
            extracted_facts=part.facts,
            important_messages=(),
        )
        for part in parts
    ]
    united = merge_windows(contents, source.conversation)
    return FoldContent(
        summary=_joined([part.summary for part in parts], "" if source.language == "zh" else " "),
        facts=united.extracted_facts,
        decisions=united.decisions,
        open_questions=_questions(question for part in parts for question in part.open_questions),
        topics=_topics([part.topics for part in parts]),
    )


def _joined(texts: Sequence[str], space: str) -> str:
    """Whole sentences of all parts, in turn and in order; each part's first is kept whatever the limits say."""
    told = [sentences(text) for text in texts]
    chosen = {(part, 0) for part in range(len(told)) if told[part]}
    words = sum(word_count(told[part][0]) for part, _ in chosen)
    for depth in range(1, max(map(len, told))):
        for part, said in enumerate(told):
            if depth >= len(said) or (part, depth - 1) not in chosen:
                continue
            count = word_count(said[depth])
            if len(chosen) < MAX_SENTENCES and words + count <= MAX_WORDS:
                chosen.add((part, depth))
                words += count
    return space.join(told[part][place] for part, place in sorted(chosen))


def _questions(questions: Iterable[OpenQuestion]) -> tuple[OpenQuestion, ...]:
    kept: list[OpenQuestion] = []
    for question in questions:
        for index, earlier in enumerate(kept):
            union = same_question(earlier, question)
            if union is not None:
                kept[index] = union
                break
        else:
            kept.append(question)
    return tuple(kept)


def _topics(parts: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """The first of each part, then the seconds …, while there is room."""
    kept: dict[str, str] = {}
    for row in zip_longest(*parts):
        for topic in row:
            if topic is not None and len(kept) < MAX_TOPICS:
                kept.setdefault(fold(topic).text, topic)
    return tuple(kept.values())
