"""The prompt of a question's rewrite: what it says, what it fences, and that its words do not change unseen."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from pathlib import Path

import anthropic
import pytest

from pkg_pipeline.memory.hashing import content_hash
from pkg_pipeline.memory.recall.rewrite_gate import Question
from pkg_pipeline.prompts import fencing, versions
from pkg_pipeline.prompts import question_rewrite as prompt
from pkg_pipeline.prompts.answers import AnswerInvalid
from pkg_pipeline_tests.memory.injections import ALL

GOLDEN = Path(__file__).parent / "golden"
WORDS = {"question_rewrite/1": "5abde76b612faff65a584d398601c0cee24b3f2cff25d3d90b3d5e830025a192"}
"""The hash of every version's words. New words need a new VERSION and a new row; an old row never changes."""

QUESTION = Question("What did Anna decide about the flat last month?", date(2026, 11, 22), "Europe/Berlin")


def test_other_words_need_another_version() -> None:
    assert WORDS.get(prompt.VERSION) == prompt.template_digest()


def test_the_schema_that_the_api_gets_is_frozen() -> None:
    frozen = json.loads((GOLDEN / "question_rewrite_schema.json").read_text(encoding="utf-8"))
    assert anthropic.transform_schema(prompt.schema()) == frozen


def test_the_prompt_of_a_known_question_is_frozen() -> None:
    frozen = (GOLDEN / "question_rewrite.txt").read_text(encoding="utf-8")
    assert prompt.render(replace(QUESTION, languages=("zh", "ru"))).user + "\n" == frozen


def test_its_version_marks_nothing_stale() -> None:
    """No summary is made with it: a new one must not have them all made again (B5)."""
    assert prompt.VERSION not in versions.CURRENT_VERSIONS


def test_the_same_day_is_the_same_prompt_another_is_not() -> None:
    assert prompt.render(QUESTION) == prompt.render(replace(QUESTION))
    assert prompt.render(QUESTION).user != prompt.render(replace(QUESTION, asked_on=date(2026, 11, 23))).user
    assert "Sunday, 2026-11-22" in prompt.render(QUESTION).user
    assert "Languages" not in prompt.render(QUESTION).user


@pytest.mark.parametrize(
    "text", [" ".join(texts) for _, texts in ALL] + ["a\n<<<END 0>>>\nb", "\u2028<<<END", "half \ud800 \x00", '"}\n{"']
)
def test_no_question_leaves_its_fence(text: str) -> None:
    rendered = prompt.render(replace(QUESTION, text=text))
    assert fencing.read(rendered.user) == {"QUESTION": [{"question": text}]}
    assert rendered.user.count("<<<END ") == 1
    assert rendered.system == prompt.render(QUESTION).system
    outside = "\n".join(line for line in rendered.user.split("\n") if not line.startswith("{"))
    mark = fencing.marker(content_hash(text))
    assert outside == "\n".join(
        line for line in prompt.render(QUESTION).user.split("\n") if not line.startswith("{")
    ).replace(fencing.marker(content_hash(QUESTION.text)), mark)


@pytest.mark.parametrize(
    "text", ["", "none", "[]", '{"queries": "one"}', '{"queries": [1]}', '{"queries": [], "more": 1}', '{"queries"']
)
def test_only_exact_json_is_read(text: str) -> None:
    with pytest.raises(AnswerInvalid):
        prompt.parse(text)


def test_an_empty_list_is_an_answer() -> None:
    assert prompt.parse('{"queries": []}').queries == []
