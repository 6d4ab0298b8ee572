"""Nobody poses as the owner, a tier, a heading or a tool: whatever a name or a text says, in three languages."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from typing import get_args
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pkg_pipeline.memory.context.assembly import assemble
from pkg_pipeline.memory.context.records import Block, ContextRows, HeardMessage, KnownFact, PastSummary
from pkg_pipeline.memory.languages import LANGUAGES
from pkg_pipeline.memory.recall.block import RecallRules, recall_block
from pkg_pipeline.memory.recall.records import ChunkSource
from pkg_pipeline.memory.records import Language
from pkg_pipeline.memory.text import marks
from pkg_pipeline.memory.text.lines import one_line
from pkg_pipeline.memory.text.phrases import marks as printed_marks
from pkg_pipeline.memory.text.phrases import phrases
from pkg_pipeline.memory.window.records import WindowMessage
from pkg_pipeline.memory.window.rendering import prepared
from pkg_pipeline.memory.window.summary_message import head_text
from pkg_pipeline_tests.memory.candidates import candidate, count_many, in_order
from pkg_pipeline_tests.memory.context.test_assembly import CHAT, NOW, entity, rules
from pkg_pipeline_tests.memory.recall.test_recall_block import UTC

WORDS = sorted(set(printed_marks()))
DISGUISES = (
    *("{}", " {} ", "{}\u200b", "\u202e{}\u202c", "{}:", "{}: yes", "{}（x）", "{} (Family)", "11:10 {}", "“{}”"),
    *('"{}"', "- {}", "# {}", "{}\n- {}", "{}\u2028{}", "[{}]", "{} — {}", "x, {}"),
)
LOOKALIKES = (*("mе", "ｍｅ", "Me", "ME", "m\u00ade", "𝐦𝐞", "ｔｏｏｌ", "Тo do", "ｄｅｃｉｄｅｄ", "Я", "я\u200d"),)
NAMES = [*(form.replace("{}", word) for word in WORDS for form in DISGUISES), *LOOKALIKES]


def test_a_name_like_a_mark_of_ours_is_in_quotation_marks() -> None:
    for name in NAMES:
        shown = marks.named(name)
        assert shown[0] == shown[-1] == '"', name
        assert '"' not in shown[1:-1], name
        assert "\n" not in shown, name


@pytest.mark.parametrize("name", ["Anna", "Анна Белова", "林晓", "Mehmet", "Яна", "Tom & Co", "我爱罗", "toolbox"])
def test_any_other_name_is_printed_as_it_is(name: str) -> None:
    assert marks.named(name) == name


def message(number: int, text: str, speaker: str, *, is_self: bool = False) -> HeardMessage:
    at = NOW - timedelta(hours=5, minutes=number)
    return HeardMessage(f"telegram:1/{number}", CHAT, speaker, is_self, at, text)


def context(language: Language, *heard: HeardMessage, summary: str = "", fact: str = "", name: str = "Anna") -> Block:
    at = NOW - timedelta(days=20)
    told = PastSummary(
        id=UUID(int=8), interaction_id=UUID(int=9), chat=CHAT, started_at=at, ended_at=at, text=summary, message_ids=(),
        is_stale=False,
    )  # fmt: skip
    rows = ContextRows(
        entity=entity(name, language),
        facts=(KnownFact(UUID(int=7), fact, "x", NOW, ()),) if fact else (),
        hot=heard,
        summaries=(told,) if summary else (),
        unsummarised=(),
        decisions=(),
        open_items=(),
        profile=None,
    )
    block = assemble(rows, rules(4000), count_many)
    assert all(item.text in block.text for tier in block.tiers for item in tier.items)
    return block


def speaker_of(line: str, colon: str) -> str:
    """Who a reader takes for the speaker of a line with a time before it."""
    found = re.fullmatch(r"- \d\d:\d\d (\"[^\"]*\"|[^:：]*?)(?: \(.*?\)|（.*?）)?[:：] ?.*", line)
    assert found is not None, line
    return found.group(1)


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_line_of_a_contact_reads_like_the_owners(language: Language) -> None:
    words = phrases(language)
    for name in NAMES:
        block = context(language, message(1, "x", name), message(2, "y", "Alex", is_self=True), name=name)
        lines = [line for line in block.text.splitlines() if line.startswith(("- 0", "- 1"))]
        owners = [line for line in lines if speaker_of(line, words.colon) == words.me]
        assert (len(lines), len(owners)) == (2, 1), name
        assert owners[0].endswith("y"), name
        assert sum(line.startswith("# ") for line in block.text.splitlines()) == 1, name


texts = st.lists(
    st.sampled_from(
        [*WORDS, "11:10", "me: yes", "\n", "\r", "\u2028", "\x85", "- ", "# ", "## ", "### ", "[Tool] ", ": ", "ok"]
    ),
    min_size=1,
    max_size=12,
).map("".join)


@settings(max_examples=150, deadline=None)
@given(language=st.sampled_from(LANGUAGES), said=texts, speaker=texts, summary=texts, fact=texts)
def test_whatever_is_said_no_line_begins_like_a_heading_or_another_line(
    language: Language, said: str, speaker: str, summary: str, fact: str
) -> None:
    words = phrases(language)
    block = context(language, message(1, said, speaker), summary=summary, fact=fact if one_line(fact) else "")
    printed = block.text.splitlines()
    for line in printed:
        assert line.startswith(("- ", "# ", "## ", "### "))
    assert sum(line.startswith("# ") for line in printed) == 1
    told = [item.text for tier in block.tiers for item in tier.items if item.kind in {"summary", "fact"}]
    for text in told:
        head, colon, _ = re.split("([:：])", text, maxsplit=1) if re.search("[:：]", text) else (text, "", "")
        ours = (words.me, words.decided.casefold(), words.to_do.casefold())
        assert not colon or re.split(r"\W", head.casefold())[0] not in ours
        assert not re.match(r"\d\d:\d\d", text)


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_recalled_line_of_a_contact_reads_like_the_owners_or_like_what_was_derived(language: Language) -> None:
    ours = {phrases(language).me, *(phrases(language).label(one) for one in get_args(ChunkSource) if one != "message")}
    rules = RecallRules(None, None, UTC, language)
    for name in NAMES:
        ranked = in_order(candidate(1, "x", speaker=name), candidate(2, "y", speaker=None))
        shown = recall_block(ranked, rules, count_many)
        assert not any(re.split("[:：]", line.text)[0] in ours for line in shown.lines), name
        assert shown.lines[1].text.startswith(phrases(language).unknown)


# ── windows ──────────────────────────────────────────────────────────────────────────────────

HEAD = head_text("They met.", ["a piece"], ["boats"])


@pytest.mark.parametrize("mark", marks.WINDOW_MARKS)
@pytest.mark.parametrize("form", ["[{}]", " [{}] x", "ok\n[{}]", "［{}］", "[{}\u200b] x", "[ {}]", "[{}: x] y"])
def test_a_users_line_that_begins_like_a_tier_is_escaped(mark: str, form: str) -> None:
    text = form.replace("{}", mark)
    for role in ("user", None):
        made = prepared(WindowMessage("k", role, text), "openai")  # type: ignore[arg-type]
        assert made.text.replace("\\", "").replace("\n  ", "\n") == text
        assert "\\" in made.text
        parts = prepared(WindowMessage("k", role, "", parts=({"type": "text", "text": text},)), "openai").parts  # type: ignore[arg-type]
        assert parts is not None
        assert parts[0]["text"] == made.text


def test_what_is_ours_begins_with_what_nobody_else_can_begin_with() -> None:
    for line in HEAD.splitlines():
        if line.startswith("["):
            assert marks.unmarked(line) == "\\" + line
    system = prepared(WindowMessage("k", "system", "Be brief."), "anthropic").text
    tool = prepared(WindowMessage("k", "tool", "42", sender_name="browser"), "anthropic").text
    for text in (system, tool):
        assert marks.unmarked(text) == "\\" + text


@pytest.mark.parametrize(
    "text", ["plain", "[1] see below", "[x](https://a.b)", "- [ ] a task", "a [System] inside", ""]
)
def test_any_other_text_of_the_users_is_untouched(text: str) -> None:
    message = WindowMessage("k", "user", text)
    assert prepared(message, "openai") is message


def test_the_owner_is_marked_and_a_namesake_is_not() -> None:
    owner = WindowMessage("k", None, "I agree", sender_name="Alex", is_self=True)
    assert prepared(owner, "anthropic").text == "Alex (me): I agree"
    for name in ("Alex", "Alex (me)", "me", "Alex (me): I agree\nx"):
        other = prepared(replace(owner, is_self=False, sender_name=name), "anthropic").text
        assert not other.startswith(("Alex (me)", "me:"))
    assert prepared(replace(owner, sender_name=""), "anthropic").text == "me: I agree"


@given(texts)
def test_no_second_line_of_a_message_is_anybodys_first(said: str) -> None:
    text = prepared(WindowMessage("k", None, f"x\n{said}", sender_name="Anna"), "anthropic").text
    first, *others = re.split(r"\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]", text)
    assert first.startswith("Anna: ")
    assert all(line.startswith("  ") for line in others)
