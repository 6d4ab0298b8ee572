"""Talk in traditional characters is read as in simplified ones and told as it was written."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pkg_pipeline.memory.items.records import ReadingInput
from pkg_pipeline.memory.records import SummaryInput
from pkg_pipeline.offline.plain_characters import Written, plain, plain_talk
from pkg_pipeline.offline.talk_items import read_talks
from pkg_pipeline.prompts.conversation_reading import Answer
from pkg_pipeline_tests.offline.chats import EMBED, chat

SAID = (
    ("婷婷", "妳這禮拜五以前把報價單寄給我好嗎"),
    ("我", "好，我禮拜四晚上寄給妳"),
    ("婷婷", "訂金3000，十月十號以前付，可以嗎"),
    ("我", "可以，就這樣"),
)


def _read(talk: SummaryInput) -> Answer:
    return read_talks(ReadingInput((talk,), (), "zh", "UTC", "hash"), EMBED)


def test_the_same_is_found_and_told_as_written() -> None:
    talk = chat(*SAID, me="我", language="zh")
    simple = plain_talk(talk)
    assert simple.messages[0].text == "你这礼拜五以前把报价单寄给我好吗"
    assert simple.participants[0].name == "婷婷"
    written, other = _read(talk), _read(simple)
    assert written.items
    assert [(one.kind, one.due, one.messages, one.sure) for one in written.items] == [
        (one.kind, one.due, one.messages, one.sure) for one in other.items
    ]
    said = "".join(text for _, text in SAID)
    for one in written.items:
        assert one.quote in said
    assert any("報價單" in one.text or "寄給" in one.text for one in written.items)


def test_what_is_simplified_is_left_alone() -> None:
    talk = chat(("小陈", "周五前把报价单发我"), me="我", language="zh")
    assert plain_talk(talk) is talk


@given(st.text(alphabet="這妳說还會abc 。\n訂囍𠮷着著", max_size=40), st.text(max_size=20))
def test_a_text_keeps_its_places(text: str, other: str) -> None:
    assert len(plain(text + other)) == len(text + other)
    assert plain(plain(text)) == plain(text)


@given(st.lists(st.text(alphabet="這妳說還會訂金寄給abc", min_size=1, max_size=12), min_size=1, max_size=4), st.data())
def test_pieces_of_a_talk_come_back_as_written(texts: list[str], data: st.DataObject) -> None:
    talk = chat(*(("婷婷", text) for text in texts), me="我", language="zh")
    text = data.draw(st.sampled_from(texts))
    begin = data.draw(st.integers(0, len(text) - 1))
    piece = text[begin:]
    assert plain(Written(talk).words(plain(piece))) == plain(piece)
