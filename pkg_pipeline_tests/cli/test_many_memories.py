"""Many memories in one cluster: whoever has the token or the name of one reads nothing of another's.

All have the same ids and the same conversations, but for a mark in the words that is each one's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pytest

from pkg_pipeline.adapters.postgres.shared_connections import SharedConnections
from pkg_pipeline.cli.programs.serving import READ_CONNECTIONS
from pkg_pipeline.wiring import memories, open_memory
from pkg_pipeline_tests.api.test_deleted_words import LEAKING, questions
from pkg_pipeline_tests.cli.digests import digest
from pkg_pipeline_tests.cli.processes import Program, wait_until
from pkg_pipeline_tests.cli.serving_many import GIVEN, OWN, Caller, connections_to_named, serving, settings_over
from pkg_pipeline_tests.cli.test_deleted_words import reads
from pkg_pipeline_tests.stages import deleted_words as words
from pkg_pipeline_tests.stages.many_memories import MARK, deployment, mark_of, marks_in, name_of, url_of

FEW_CONNECTIONS = 6
OPEN_TO_ALL = {"type": ("phone",), "fact": ("Olga Petrova",), "receipt": (str(uuid4()),), "category": ("work",)}
"""Parameters of routes that another test of the questions does not ask."""

AT_ONCE = 4
MANY = 60
"""Three times what may be connected at once."""
NUMBERS = range(1, MANY + 1)
SERVED = 6
"""Each sixth is asked over HTTP too: an application takes a tenth of a second of a core to open."""


def test_of_many_each_reads_its_own_over_a_few_connections(
    server_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = SharedConnections(FEW_CONNECTIONS, share=FEW_CONNECTIONS // 2)
    with deployment(server_url, tmp_path, count=MANY) as url:
        settings = settings_over(url, tmp_path, monkeypatch)
        assert [one.memory for one in memories.listed(settings)] == sorted(name_of(number) for number in NUMBERS)

        def read(number: int) -> set[str]:
            with open_memory(memories.settings_of(settings, name_of(number)), pool=shared.pool) as memory:
                assert shared.open <= 3 * FEW_CONNECTIONS
                said = memory.sessions.messages(words.SESSION, limit=100, cursor=None)
                return marks_in(str(said.to_json()))

        with ThreadPoolExecutor(AT_ONCE) as readers:
            assert list(readers.map(read, NUMBERS)) == [{mark_of(number)} for number in NUMBERS]
        with serving(settings, tokens_for=MANY) as client:
            for number in (*NUMBERS[::SERVED], MANY, 1, OWN):
                found = Caller(client, number)("GET", f"/v1/sessions/{quote(words.SESSION)}/messages")
                assert marks_in(found.text) == {mark_of(number)}
            assert connections_to_named(url) <= 3 * READ_CONNECTIONS
        wait_until(lambda: connections_to_named(url) == 0)  # a closed connection's process ends a moment later


@pytest.fixture
def three(server_url: str, tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """The own memory and two named ones, all filled, with a mark each."""
    with deployment(server_url, tmp_path, count=2) as url:
        yield url, tmp_path


def test_every_route_serves_the_mark_of_its_memory_and_no_other(
    three: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In turn, so that what one request leaves behind is there when another memory is asked the same."""
    serving_it: dict[int, set[str]] = {OWN: set(), 1: set(), 2: set()}
    with serving(settings_over(*three, monkeypatch), tokens_for=2) as client:
        for turn, (route, path, query) in enumerate(questions(client, OPEN_TO_ALL, most=1)):
            for number in (1, 2) if turn % 8 else (1, OWN, 2):
                answer = Caller(client, number)("GET", path, params=query)
                assert answer.status_code in (200, 404, 422), (route, query, answer.text)
                assert marks_in(answer.text) <= {mark_of(number)}, (route, query)
                if marks_in(answer.text):
                    serving_it[number].add(route)
    assert serving_it[1] == serving_it[2] >= LEAKING


def test_no_command_that_reads_shows_another_memory(three: tuple[str, Path], given: Program, tmp_path: Path) -> None:
    url, given.home = three
    given.variables |= {**GIVEN, "DATABASE_URL": url}
    shown: dict[int, set[str]] = {OWN: set(), 1: set(), 2: set()}
    folder = tmp_path / "out"
    for number in shown:
        chosen = () if number == OWN else ("--memory", name_of(number))
        (folder / str(number)).mkdir(parents=True)
        asked = list(reads(folder / str(number)))
        one_each = {arguments[0]: arguments for arguments in asked}.values()
        for arguments in [*asked[::8], *one_each] if number == 1 else one_each:
            said = given(*chosen, *arguments, *(() if arguments[0] in ("export", "compare") else ("--json",)))
            assert marks_in(said.out + said.err) <= {mark_of(number)}, (number, arguments)
            if marks_in(said.out):
                shown[number].add(arguments[0])
        for file in (folder / str(number)).iterdir():
            found = MARK.findall(file.read_text(encoding="utf-8", errors="replace"))
            assert {one.upper() for one in found} <= {mark_of(number)}, file
    assert shown[1] >= {"context", "recall", "window", "session", "summaries", "export"}
    assert shown[OWN]
    assert shown[2]


# ── ids of another memory ─────────────────────────────────────────────────────────────────────

PLACES = ("entity", "chat", "session", "item", "fact", "line", "decision", "receipt", "message")
ASKED: list[tuple[str, str, dict[str, str], Any]] = [
    ("GET", "/v1/entities", {"query": "@entity"}, None),
    ("GET", "/v1/entities/suggestions", {}, None),
    ("GET", "/v1/entities/decisions", {"entity": "@entity"}, None),
    ("POST", "/v1/entities/decisions/{decision}/undo", {}, None),
    ("POST", "/v1/entities/{entity}/merge", {}, {"other": "@entity"}),
    ("POST", "/v1/entities/{entity}/split", {}, {"identities": ["@entity"]}),
    ("POST", "/v1/entities/{entity}/aliases", {}, {"names": ["Somebody"]}),
    ("POST", "/v1/entities/{entity}/dismiss", {}, {"other": "@entity"}),
    ("PATCH", "/v1/entities/{entity}", {}, {"name": "Somebody"}),
    ("GET", "/v1/entities/{entity}", {}, None),
    ("DELETE", "/v1/entities/{entity}", {"dry_run": "true"}, None),
    ("DELETE", "/v1/entities/{entity}", {}, None),
    ("GET", "/v1/entities/{entity}/context", {}, None),
    ("GET", "/v1/entities/{entity}/timeline", {}, None),
    ("GET", "/v1/summaries", {"entity": "@entity"}, None),
    ("GET", "/v1/summaries", {"chat": "@chat"}, None),
    ("GET", "/v1/recall", {"query": "the account for the boat", "entity": "@entity"}, None),
    ("GET", "/v1/recall", {"query": "the account for the boat", "session": "@session"}, None),
    ("GET", "/v1/recall", {"query": "the account for the boat", "chat": "@chat"}, None),
    ("GET", "/v1/items", {"person": "@entity"}, None),
    ("GET", "/v1/items/{item}", {}, None),
    ("PATCH", "/v1/items/{item}", {}, {"status": "done"}),
    ("GET", "/v1/facts", {"entity": "@entity"}, None),
    ("POST", "/v1/facts", {}, {"entity": "@entity", "type": "phone", "value": "+49 30 1234567"}),
    ("GET", "/v1/facts/{fact}", {}, None),
    ("PATCH", "/v1/facts/{fact}", {}, {"status": "confirmed"}),
    ("POST", "/v1/facts/{fact}/confirm", {}, None),
    ("POST", "/v1/facts/{fact}/reject", {}, None),
    ("GET", "/v1/why/{line}", {}, None),
    ("GET", "/v1/chats", {}, None),
    ("PATCH", "/v1/chats/{chat}", {}, {"category": "work"}),
    ("DELETE", "/v1/chats/{chat}", {}, None),
    ("GET", "/v1/sessions", {}, None),
    ("GET", "/v1/sessions/{session}", {}, None),
    ("GET", "/v1/sessions/{session}/messages", {}, None),
    ("GET", "/v1/sessions/{session}/window", {}, None),
    ("POST", "/v1/sessions/{session}/events", {}, {"event": "handoff"}),
    ("POST", "/v1/sessions/{session}/fold", {}, None),
    ("PATCH", "/v1/sessions/{session}", {}, {"policy": "sliding"}),
    ("DELETE", "/v1/sessions/{session}", {}, None),
    ("DELETE", "/v1/messages", {"message": "@message"}, None),
    ("GET", "/v1/erasures", {}, None),
    ("GET", "/v1/erasures/{receipt}", {}, None),
    ("GET", "/v1/summarization/stats", {}, None),
    ("GET", "/v1/summarization/queue", {}, None),
    ("GET", "/v1/summarization/queue/waiting", {}, None),
    ("POST", "/v1/summarization/backfill", {}, {"dry_run": True}),
    ("GET", "/metrics", {}, None),
    ("GET", "/health", {}, None),
    # last: it makes the session in the memory of its token
    ("POST", "/v1/sessions/{session}/messages", {}, {"messages": [{"id": "1", "role": "user", "text": "hello"}]}),
]
"""Method, route, query and body of every route; @… are ids of another memory, or of none."""

_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def test_ids_of_another_memory_are_answered_as_ids_of_none(
    three: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_over(*three, monkeypatch)
    memories.create(settings, name_of(3))
    with serving(settings, tokens_for=3) as client:
        described = {
            (method.upper(), route.replace("{state}", "waiting"))
            for route, methods in client.get("/openapi.json").json()["paths"].items()
            for method in methods
        }
        assert {(method, route) for method, route, _, _ in ASKED} == described
        there, empty = ids_of(Caller(client, 1)), Caller(client, 3)
        before = digest(url_of(three[0], 1))
        for method, route, query, body in ASKED:
            nowhere = {name: unknown_like(value) for name, value in there.items()}
            answers = [asked(empty, method, route, query, body, ids) for ids in (nowhere, there)]
            if route == "/metrics":
                answers = [(code, re.sub(r"(?m)^pkg_api_.*\n", "", said)) for code, said in answers]
            assert answers[0] == answers[1], (method, route)
            assert not marks_in(answers[1][1]), (method, route)
        assert digest(url_of(three[0], 1)) == before


def asked(
    caller: Caller, method: str, route: str, query: dict[str, str], body: Any, ids: dict[str, str]
) -> tuple[int, str]:
    """The answer, with every id and every given text replaced."""
    path = re.sub(r"\{(\w+)\}", lambda found: quote(ids[found[1]], safe=""), route)

    def filled(value: Any) -> Any:
        if isinstance(value, list):
            return [filled(one) for one in value]
        return ids[value[1:]] if isinstance(value, str) and value.startswith("@") else value

    params = {name: filled(value) for name, value in query.items()}
    sent = {} if body is None else {"json": {name: filled(value) for name, value in body.items()}}
    if method not in ("GET", "DELETE") and body is None:
        sent = {"json": {}}
    answer = caller(method, path, params=params, **sent)
    text = answer.text
    for value in sorted(ids.values(), key=len, reverse=True):
        text = text.replace(value, "GIVEN").replace(quote(value, safe=""), "GIVEN")
    return answer.status_code, re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z?|\"seconds\":[\d.]+", "AT", _ID.sub("ID", text))


def ids_of(caller: Caller) -> dict[str, str]:
    """Of what there is in a filled memory: a decision on people and a receipt of an erasure are made for it."""
    olga = caller("GET", "/v1/entities", params={"query": words.OTHER}).json()["items"][0]["id"]
    assert caller("POST", f"/v1/entities/{olga}/aliases", json={"names": ["Olenka"]}).status_code == 200
    gone = f"{words.CHAT}/c1-6"
    assert caller("DELETE", "/v1/messages", params={"message": gone}).status_code == 200
    fact = {"entity": olga, "type": "phone", "value": "+49 30 7654321"}
    assert caller("POST", "/v1/facts", json=fact).status_code in (200, 201)
    found = {
        "entity": olga,
        "chat": words.CHAT,
        "session": words.SESSION,
        "item": "aaaaaaaa",
        "fact": caller("GET", "/v1/facts").json()["items"][0]["id"],
        "line": "dddddddd-0000-0000-0000-000000000000",
        "decision": caller("GET", "/v1/entities/decisions").json()["items"][0]["id"],
        "receipt": caller("GET", "/v1/erasures").json()["items"][0]["id"],
        "message": f"{words.CHAT}/c1-1",
    }
    assert set(found) == set(PLACES)
    return found


def unknown_like(value: str) -> str:
    """Of the same form and length, and nowhere."""
    if _ID.fullmatch(value):
        return str(uuid4())
    begin, _, end = value.rpartition("/" if "/" in value else ":")
    return f"{begin.replace(':c1', ':qx')}{value[len(begin)]}{'qx' * len(end)}"
