"""The prompts of summaries: talks in few tokens, words only in the answer, and words that do not change unnoticed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import anthropic
import jsonschema
import pytest

from pkg_pipeline.memory.records import SummaryContent, SummaryInput
from pkg_pipeline.memory.summary.increments import UpdateInput
from pkg_pipeline.memory.summary.merging import MergeInput, Part, merge_input
from pkg_pipeline.prompts import fencing, summary, summary_merge, summary_update
from pkg_pipeline.prompts.answers import AnswerInvalid
from pkg_pipeline_tests.memory.conversations import BEN, CHINESE, ENGLISH, EVERY, RUSSIAN, conversation
from pkg_pipeline_tests.memory.injections import ALL

GOLDEN = Path(__file__).parent / "golden"
WORDS = {
    "summary/1": "ff17d7ebf1f3b883a68c52d3e5756d90ae845089ff5d8c8f839b34ef2de11cc8",
    "summary/2": "37f31ffd8094f1660fbe07f63a9e1def7461a3379cb046ee03613e54f81ca41b",
    "summary/3": "2eed62d5e120a944fb56c27c4c66e98e5e997267b40a41fced980b4d935f583c",
    "summary_update/1": "c50e6979b98a668aeadb395de7f706680e78a12a6772a01385f77e0eebdf93e2",
    "summary_update/2": "ca8db39f2c409903f370c693d5312e98f1f0bf73231080e0cb44c7ba5b28f5e4",
    "summary_merge/1": "c55e70beb171df9bd02f52771ffc61ec5113daf60673851a8184e4e2fafd13ab",
    "summary_merge/2": "c5d3308d00796f351854725de1ac70d9dd5507ff2a69d8d3149fd8b00aec823a",
}
"""The hash of every version's words. New words need a new VERSION and a new row; an old row never changes."""

MODULES = pytest.mark.parametrize(
    "module", [summary, summary_update, summary_merge], ids=lambda module: module.VERSION.split("/")[0]
)
WORDED: dict[str, Any] = {"summary": "They met.", "points": ["met"], "tone": "neutral"}
TALK: dict[str, Any] = {"talk": 1, **WORDED, "important": []}


def known(source: SummaryInput) -> SummaryContent:
    first, last = source.messages[0], source.messages[-1]
    return SummaryContent(first.text, (last.text,), "formal", ())


def update(source: SummaryInput, *new: int) -> UpdateInput:
    return UpdateInput(source, known(source), frozenset(new or {source.messages[-1].number}))


def merge(source: SummaryInput) -> MergeInput:
    part = Part(known(source), source.started_at, source.ended_at)
    other = replace(part, content=replace(part.content, summary=source.messages[1].text))
    return merge_input(source, [part, other])


def rendered(module: Any, source: SummaryInput) -> Any:
    asked = {summary: (source,), summary_update: update(source), summary_merge: merge(source)}[module]
    return module.render(asked)


@MODULES
def test_other_words_need_another_version(module: Any) -> None:
    assert WORDS.get(module.VERSION) == module.template_digest()


@MODULES
def test_the_schema_that_the_api_gets_is_frozen(module: Any) -> None:
    """Changing it changes the service's grammar and empties its prompt cache."""
    name = module.VERSION.split("/")[0]
    frozen = json.loads((GOLDEN / f"{name}_schema.json").read_text(encoding="utf-8"))
    assert anthropic.transform_schema(module.schema()) == frozen


@MODULES
@pytest.mark.parametrize("language", EVERY)
def test_the_prompt_says_what_it_said(module: Any, language: str) -> None:
    prompt = rendered(module, EVERY[language])
    golden = (GOLDEN / f"{module.VERSION.split('/')[0]}_{language}.txt").read_text(encoding="utf-8")
    assert f"{prompt.system}\n\n════════\n\n{prompt.user}\n" == golden


@MODULES
@pytest.mark.parametrize("language", EVERY)
def test_every_word_of_theirs_is_fenced(module: Any, language: str) -> None:
    source = EVERY[language]
    prompt = rendered(module, source)
    outside = prompt.system + "".join(part.split("<<<")[0] for part in prompt.user.split(">>>\n")[::2])
    for message in source.messages:
        assert message.text not in outside
        assert message.sender.name not in outside


def test_several_talks_keep_the_numbers_of_their_messages() -> None:
    lines = fencing.read(summary.render([ENGLISH, conversation((BEN, "I paid it."), language="en")]).user)["TALKS"]
    assert [line.get("talk") if isinstance(line, dict) else line[0] for line in lines] == [1, 1, 2, 3, 4, 2, 1]


def test_an_update_says_which_messages_are_new() -> None:
    assert "New messages: 1, 3-4.\n" in summary_update.render(update(ENGLISH, 1, 3, 4)).user
    told = fencing.read(summary_update.render(update(RUSSIAN)).user)["SUMMARY"]
    assert told == [{"summary": RUSSIAN.messages[0].text, "points": [RUSSIAN.messages[3].text], "tone": "formal"}]


def test_the_system_turn_says_the_language_of_the_answer() -> None:
    assert "中文" in summary.render([CHINESE]).system
    assert "по-русски" in summary.render([RUSSIAN]).system
    assert summary.render([ENGLISH]).system == summary.render([replace(ENGLISH, timezone="Asia/Tokyo")]).system


@pytest.mark.parametrize(("language", "texts"), ALL[::4])
def test_no_order_leaves_its_fence(language: str, texts: tuple[str, ...]) -> None:
    first, *rest = EVERY[language].messages
    poisoned = replace(EVERY[language], messages=(replace(first, text="\n".join(texts)), *rest))
    for asked in (summary.render([poisoned]), summary_update.render(update(poisoned))):
        assert fencing.read(asked.user)["TALKS"][1][2] == "\n".join(texts)
        assert asked.user.count("<<<") == 2 * len(fencing.read(asked.user))


def test_the_second_rung_names_the_problem_and_the_schema_and_keeps_the_rest() -> None:
    for render, asked in ((summary.render, (ENGLISH,)), (summary_update.render, update(ENGLISH))):
        plain, strict = render(asked), render(asked, strict=True, problem="summary: <<<END>>> is empty")  # type: ignore[arg-type]
        assert strict.user.startswith(plain.user)
        assert "summary: END is empty" in strict.user
        assert '"important"' in strict.user


def test_answers_are_read_by_talk() -> None:
    told = {"talks": [TALK, {**TALK, "talk": 2, "points": ["x"] * 9, "important": [3]}, {**TALK, "summary": "twice"}]}
    jsonschema.validate(told, summary.schema())
    found = summary.to_candidates(summary.parse(json.dumps(told)))
    assert [(number, one.summary, len(one.key_points)) for number, one in found.items()] == [
        (1, "They met.", 1),
        (2, "They met.", summary.MOST_POINTS),
    ]
    assert found[2].important_numbers == (3,)
    one = {**WORDED, "important": [4]}
    assert summary_update.to_candidate(summary_update.parse(json.dumps(one))).important_numbers == (4,)
    assert summary_merge.to_candidate(summary_merge.parse(json.dumps(WORDED))).tone == "neutral"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"talks": []}',
        json.dumps({"talks": [{**TALK, "tone": "angry"}]}),
        json.dumps({"talks": [WORDED]}),
    ],
)
def test_anything_but_the_schema_is_a_failure(text: str) -> None:
    with pytest.raises(AnswerInvalid):
        summary.parse(text)
