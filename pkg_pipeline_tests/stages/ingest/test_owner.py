"""Who I am: told, found, asked for; and that learning it late ends like knowing it at once."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pytest

from pkg_pipeline.adapters.exports.detect import open_export
from pkg_pipeline.memory.records import ParsedChat, ParsedMessage, ParsedOwner
from pkg_pipeline.stages.ingest.owner import NamedSelves, SelfUnknown, is_open, resolve_self
from pkg_pipeline_tests.digest import tables
from pkg_pipeline_tests.stages.ingest.import_rig import NOW, START, ItemsExport, LinesExport, Rig, line
from pkg_pipeline_tests.stages.recount import assert_recounts


@pytest.fixture
def rig(database_url: str) -> Iterator[Rig]:
    rig = Rig(database_url)
    yield rig
    rig.close()


def lines(*given: Mapping[str, Any]) -> LinesExport:
    return LinesExport("\n".join(map(json.dumps, given)).encode(), exported_at=NOW)


def nobody(source: str) -> list[str]:
    return []


TALK = [line("c", 1), line("c", 2, sender="bob"), line("c", 3, sender="bob", sender_name="Bobby")]


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("ann", {("jsonl", "ann")}),  # by id
        ("Bob", {("jsonl", "bob")}),  # by name
        ("  bOBBY ", {("jsonl", "bob")}),  # by a later name, in any case
        ("none", set[tuple[str, str]]()),
        ("NONE", set[tuple[str, str]]()),
    ],
)
def test_what_a_person_says_is_found_by_id_or_any_name(rule: str, expected: set[tuple[str, str]]) -> None:
    found = resolve_self([lines(*TALK)], rule=rule, known=nobody)
    assert found == expected
    assert isinstance(found, NamedSelves)


def test_an_unknown_name_lists_who_is_there_those_who_wrote_most_first() -> None:
    with pytest.raises(SelfUnknown, match=r"nobody here is called 'Zoe'.*--self NAME-OR-ID") as caught:
        resolve_self([lines(*TALK)], rule="Zoe", known=nobody)
    assert caught.value.candidates == [("bob", "Bob", 2), ("ann", "Ann", 1)]


@pytest.mark.parametrize("source", ["jsonl", "mail"])
def test_a_name_of_two_is_asked_about_in_whichever_source(source: str) -> None:
    both = [line("c", 1, sender=one, sender_name="Sam", source=source) for one in ("s1", "s2")]
    with pytest.raises(SelfUnknown, match="several people are called 'sam'") as caught:
        resolve_self([lines(line("d", 1, sender_name="Sam"), *both)], rule="sam", known=nobody)
    assert {external_id for external_id, _, _ in caught.value.candidates} == {"ann", "s1", "s2"}


def test_one_name_on_two_sources_is_me_on_both() -> None:
    here = [line("c", 1, sender="a"), line("m", 1, sender="b", sender_name="A", source="mail")]
    assert resolve_self([lines(*here)], rule="A", known=nobody) == {("jsonl", "a"), ("mail", "b")}


def test_without_a_rule_the_export_decides_or_an_earlier_import_or_nobody() -> None:
    assert resolve_self([lines(line("c", 1, is_self=True))], rule=None, known=nobody) == {("jsonl", "ann")}
    owned = ItemsExport([ParsedOwner("telegram", "user5", "Me")])
    assert resolve_self([owned], rule=None, known=nobody) == {("telegram", "user5")}
    assert resolve_self([lines(*TALK)], rule=None, known=lambda _: ["bob"]) == {("jsonl", "bob")}
    assert resolve_self([lines()], rule=None, known=nobody) == set()
    with pytest.raises(SelfUnknown, match="does not say who you are"):
        resolve_self([lines(*TALK)], rule=None, known=nobody)


def test_of_a_direct_chat_whoever_is_not_the_peer_is_me() -> None:
    chat = ParsedChat("x", "c", "direct", peer_external_id="peer")
    said = [ParsedMessage("c", str(number), START, "hi", one) for number, one in enumerate(("peer", "me9"))]
    assert resolve_self([ItemsExport([chat, *said])], rule=None, known=nobody) == {("x", "me9")}


def test_a_single_telegram_chat_finds_me(rig: Rig, tmp_path: Any) -> None:
    messages = [
        {
            "id": number,
            "type": "message",
            "date_unixtime": str(10**9 + number),
            "from": name,
            "from_id": who,
            "text": "hi",
        }
        for number, (name, who) in enumerate((("Ivan", "user7"), ("Me", "user5"), ("Ivan", "user7")))
    ]
    path = tmp_path / "result.json"
    path.write_text(json.dumps({"name": "Ivan", "type": "personal_chat", "id": 7, "messages": messages}))
    exports = open_export(path)
    selves = resolve_self(exports, rule=None, known=nobody)
    assert selves == {("telegram", "user5")}
    rig.take_export(exports[0], selves=selves)  # type: ignore[arg-type]
    assert rig.rows("SELECT is_outgoing FROM messages ORDER BY sent_at") == [(False,), (True,), (False,)]


@pytest.mark.parametrize(
    ("told", "source", "opened"),
    [
        (frozenset(), "mail", True),
        (frozenset({("mail", "me")}), "mail", True),
        (NamedSelves(), "mail", False),  # --self none
        (NamedSelves({("mail", "me")}), "mail", False),
        (NamedSelves({("mail", "me")}), "jsonl", True),  # nothing was said of it
    ],
)
def test_what_was_told_closes_the_sources_it_speaks_of(
    told: frozenset[tuple[str, str]], source: str, opened: bool
) -> None:
    assert is_open(told, source) is opened


def test_none_means_none_whatever_the_file_says(rig: Rig) -> None:
    rig.take_export(
        ItemsExport(
            [
                ParsedOwner("jsonl", "ann", "Ann"),
                ParsedChat("jsonl", "c", "direct", peer_external_id="bob"),
                ParsedMessage("c", "1", START, "hi", "ann", is_self=True),
            ]
        ),
        selves=NamedSelves(),
    )
    assert rig.rows("SELECT DISTINCT is_self FROM entities") == [(False,)]
    assert rig.rows("SELECT is_outgoing FROM messages") == [(False,)]


def account() -> list[dict[str, Any]]:
    direct = [line("c", number, minute=number, sender=("ann", "bob")[number % 2]) for number in range(6)]
    grouped = [
        line("g", number, minute=number, sender=("ann", "bob", "cem")[number % 3], chat_kind="group", text="Ann?")
        for number in range(9)
    ]
    return [*direct, *grouped, line("d", 1, sender="bob")]


def ends(rig: Rig, steps: Iterable[tuple[list[dict[str, Any]], frozenset[tuple[str, str]]]], *, build: bool) -> Any:
    rig.empty()
    for given, selves in steps:
        rig.take(given, selves=selves)
        if build:
            rig.build()
    rig.build()
    assert_recounts(rig)
    with rig.connection() as connection:
        return tables(connection)


@pytest.mark.parametrize("build", [False, True])
def test_knowing_late_who_i_am_ends_like_knowing_it_at_once(rig: Rig, build: bool) -> None:
    me = frozenset({("jsonl", "ann")})
    at_once = ends(rig, [(account(), me)], build=build)
    assert sum(row[3] for row in at_once["entities"]) == 1
    assert ends(rig, [(account(), frozenset()), (account()[:1], me)], build=build) == at_once
    marked = [*account()[1:], {**account()[0], "is_self": True}]  # the mark stands in the last line
    assert ends(rig, [(marked, frozenset())], build=build) == at_once


def test_an_earlier_import_is_remembered_even_against_none(rig: Rig) -> None:
    rig.take(account()[:3], selves=NamedSelves({("jsonl", "ann")}))
    rig.take(account(), selves=NamedSelves())
    rig.build()
    assert rig.value("SELECT count(*) FROM messages WHERE is_outgoing") == 6
    assert_recounts(rig)


def test_reading_for_the_owner_stops_where_he_is_found() -> None:
    class Endless(ItemsExport):
        def items(self) -> Iterator[Any]:
            yield ParsedChat("jsonl", "c", "direct")
            yield ParsedMessage("c", "1", START, "hi", "ann", is_self=True)
            raise AssertionError("read on")

    assert resolve_self([Endless([])], rule=None, known=nobody) == {("jsonl", "ann")}
    assert resolve_self([Endless([])], rule="ann", known=nobody) == {("jsonl", "ann")}
