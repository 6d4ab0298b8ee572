"""A served block that comes back in a message: scores, items, summaries, pieces and contexts leave it out (B14)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from pkg_pipeline.memory.message.importance import score
from pkg_pipeline.stages.ports import Billing
from pkg_pipeline.stages.reads.entities import find_entity
from pkg_pipeline.wiring import Memory
from pkg_pipeline_tests.stages import deleted_words as words

OWN = "I will send Boris the invoice of 700 EUR by 28 March."
ANSWERS = (
    ("Boris", "Fine, thank you. The bookkeeper needs the invoice with the number of the order, which is 4711, on it."),
    ("Me", "Understood, I will put the number of the order and the address of your office in Limassol on the invoice."),
    ("Boris", "Good, and I will pay the invoice within ten days after it came, as we always did last year."),
    ("Me", "That suits me very well, since the printers want to be paid in the middle of April this time."),
    ("Boris", "Then we agreed: invoice in March, money in April, and the next order by the end of May."),
)
SESSION = "agent:echo"
DAYS = (date(2025, 1, 1), date(2025, 4, 30))


def said(number: int, sender: str, text: str, **more: Any) -> dict[str, Any]:
    """In another chat, a few days before now."""
    at = f"2025-03-13T10:{number:02}:00+00:00"
    given = {**words.line(number, sender, text), "chat_id": "c2", "message_id": f"c2-{number}", "sent_at": at}
    return {**given, **more}


def work(memory: Memory) -> None:
    memory.build_interactions()
    memory.items.run(Billing("live"))
    memory.summarize(DAYS, Billing("live"))
    memory.chunks.build(DAYS)


@pytest.fixture
def memory(database_url: str, tmp_path: Path) -> Iterator[Memory]:
    with words.opened(database_url, tmp_path, words.NOW) as opened:
        lines = [words.line(number, *one) for number, one in enumerate(words.SAID, 1)]
        words.take(opened, lines, written="2025-02-25T00:00:00+00:00", folder=tmp_path)
        work(opened)
        yield opened


def served(memory: Memory) -> str:
    person = find_entity(memory.reads, words.OTHER)
    block = memory.context(person.id, max_tokens=None, as_of=None).block.text
    assert words.IBAN in block
    return block


def rows(memory: Memory, asked: str) -> list[tuple[Any, ...]]:
    with memory.connections.connection() as connection:
        return connection.execute(asked.encode()).fetchall()


def test_a_pasted_context_is_stored_whole_and_read_nowhere(memory: Memory, tmp_path: Path) -> None:
    block = served(memory)
    pasted = f"See what it says:\n\n{block}\n{OWN}"
    lines = [said(1, "Me", pasted), *(said(number, *one) for number, one in enumerate(ANSWERS, 2))]
    words.take(memory, lines, written="2025-03-14T00:00:00+00:00", folder=tmp_path)
    work(memory)
    ((content, value),) = rows(memory, "SELECT content, importance_score FROM messages WHERE external_id = 'c2-1'")
    assert content == pasted
    assert value == pytest.approx(score(f"See what it says:\n{OWN}").value, abs=0.01)
    ((left,),) = rows(memory, "SELECT content FROM live_texts WHERE external_id = 'c2-1'")
    assert left == f"See what it says:\n{OWN}"
    chat = "(SELECT id FROM chats WHERE external_id = 'c2')"
    talks = f"interaction_id IN (SELECT id FROM interactions i WHERE i.chat_id = {chat})"
    for made in (
        f"SELECT text || quote FROM items WHERE chat_id = {chat}",
        f"SELECT summary FROM interaction_summaries WHERE {talks}",
        f"SELECT content FROM memory_chunk_texts WHERE chat_id = {chat}",
    ):
        texts = [text for (text,) in rows(memory, made)]
        assert any("invoice" in text for text in texts), (made, texts)
        assert not any(words.IBAN in text or "boat" in text for text in texts), made
    assert rows(memory, f"SELECT count(*) FROM entity_facts WHERE {talks}") == [(0,)]
    boris = find_entity(memory.reads, "Boris")
    context = memory.context(boris.id, max_tokens=None, as_of=None).block.text
    assert "700 EUR" in context
    assert words.IBAN not in context
    found = memory.recall.search("which account takes the transfer for the boat", chat_id=boris_chat(memory))
    assert words.IBAN not in found.block.text


def boris_chat(memory: Memory) -> Any:
    return rows(memory, "SELECT id FROM chats WHERE external_id = 'c2'")[0][0]


def test_an_append_marks_it_in_the_same_way_also_when_everybody_is_known(memory: Memory) -> None:
    block = served(memory)
    for number, text in enumerate(("Hello", block, f"{block}\n{OWN}", f"> {words.SAID[1][1]}"), 1):
        memory.sessions.append(SESSION, [("", {"id": str(number), "role": "user", "text": text})])
    found = dict(rows(memory, "SELECT external_id, content FROM live_texts WHERE role = 'user'"))
    assert found == {"1": "Hello", "2": "", "3": OWN, "4": f"> {words.SAID[1][1]}"}
    window = memory.windows.window(memory.sessions.ensure(SESSION).id)
    assert words.IBAN in str(window.messages), "a prompt has what was written"
    memory.sessions.append(SESSION, [("", {"id": "2", "role": "user", "text": "All my own now"})])
    memory.sessions.append(SESSION, [("", {"id": "1", "role": "user", "text": block})])
    found = dict(rows(memory, "SELECT external_id, content FROM live_texts WHERE role = 'user'"))
    assert (found["1"], found["2"]) == ("", "All my own now")


def test_the_summary_of_a_window_is_known_when_it_comes_back(memory: Memory) -> None:
    turns = [
        (f"Point {n}: the keel costs {n}00 EUR and Boris delivers it on {n} May.", f"Noted, {n}00 EUR on {n} May.")
        for n in range(1, 25)
    ]
    for number, pair in enumerate(turns):
        for role, text in zip(("user", "assistant"), pair, strict=True):
            message = {"id": f"{number}-{role}", "role": role, "text": text}
            memory.sessions.append(SESSION, [("", message)])
    session = memory.sessions.ensure(SESSION).id
    assert memory.folding.fold_session(session).folds
    summary = memory.windows.window(session).window.summary
    assert "EUR" in summary
    memory.sessions.append(SESSION, [("", {"id": "pasted", "role": "user", "text": f"{summary}\n{OWN}"})])
    ((left,),) = rows(memory, "SELECT content FROM live_texts WHERE external_id = 'pasted'")
    assert left == OWN


def test_what_is_forgotten_leaves_no_fingerprints(memory: Memory) -> None:
    block = served(memory)
    memory.sessions.append(SESSION, [("", {"id": "1", "role": "user", "text": block})])
    kept = "SELECT (SELECT count(*) FROM served_lines) > 0, (SELECT count(*) FROM message_echoes)"
    assert rows(memory, kept) == [(True, 1)]
    memory.forgetting.forget(memory.forgetting.session(memory.sessions.ensure(SESSION).id), by="test", rewrite=False)
    assert rows(memory, kept) == [(False, 0)]
    memory.sessions.append("agent:later", [("", {"id": "1", "role": "user", "text": block})])
    assert rows(memory, kept) == [(False, 0)], "what is not known is one's own"


def test_the_oldest_fingerprints_go(memory: Memory) -> None:
    rows(memory, "INSERT INTO served_lines (print) SELECT -n FROM generate_series(1, 200000) AS n RETURNING 1")
    for _ in range(2):  # the next block takes away what is too many
        served(memory)
    assert rows(memory, "SELECT count(*) FROM served_lines") == [(200_000,)]
    assert rows(memory, "SELECT count(*) FROM served_lines WHERE print = -1") == [(0,)]
