"""Real conversations as sequences of messages, in the form in which a session takes them; and made ones of any length.

Read are public sample files that lie beside the checkout and are never part of it: exports of ChatGPT and Claude, days
of an IRC channel, the LoCoMo conversations. Made ones are put together of the demo's own sentences. How a thread is
played is ``thread_replay``. Ids are places in the files, so they stay the same at every reading.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.corpora import EN_IRC, ROOT, SAMPLES, CorpusMissing, irc_rows
from pkg_pipeline.demo.account import load_chats

LOCOMO = ROOT.parent / "shared" / "eval" / "locomo_dev.json"
CHATGPT = "chatgpt/chatgpt2graph_conversations.json"
CHATGPT_TREE = "chatgpt/polylogue_native-conversation-v1.json"
CLAUDE = (
    "claude/osteele_api.json",
    "claude/osteele_business-strategy.json",
    "claude/osteele_debugging.json",
    "claude/osteele_history.json",
    "claude/polylogue_sample-01.json",
)
MADE_START = datetime(2026, 1, 5, 9, tzinfo=UTC)

Row = dict[str, Any]
"""One message as ``session append`` takes it."""


@dataclass(frozen=True, slots=True)
class Thread:
    """A conversation by name, its messages in the order in which they came."""

    source: str
    external_id: str
    rows: tuple[Row, ...]

    @property
    def key(self) -> str:
        return f"{self.source}:{self.external_id}"


def threads(samples: Path = SAMPLES, locomo: Path = LOCOMO) -> Iterator[Thread]:
    """All real threads. Raises CorpusMissing, naming the file."""
    yield chatgpt(read(samples / CHATGPT))
    yield chatgpt(read(samples / CHATGPT_TREE))
    talks = [read(samples / name) for name in CLAUDE]
    yield claude(talks, external_id="samples")
    for name in EN_IRC:
        day = date.fromisoformat(Path(name).name[:10])
        yield irc(_text(samples / name).split("\n"), day=day)
    for number, told in enumerate(read(locomo), start=1):
        yield locomo_talk(told, number)


def chatgpt(exported: Any) -> Thread:
    """One conversation of ChatGPT: the branch that was seen last, from the root to its leaf.

    What goes to a tool is a ``tool_use``, what the tool says a ``tool_result``; hidden messages are left out.
    """
    told = exported[0] if isinstance(exported, list) else exported
    branch: list[Row] = []
    node = told["mapping"].get(told["current_node"])
    while node is not None and len(branch) < len(told["mapping"]):
        branch.append(node)
        node = told["mapping"].get(node["parent"])
    rows: list[Row] = []
    call: str | None = None
    for node in reversed(branch):
        message = node["message"]
        if message is None or (message.get("metadata") or {}).get("is_visually_hidden_from_conversation"):
            continue
        row, call = _chatgpt_row(message, call)
        if row is not None:
            _at(row, message.get("create_time") or told["create_time"], rows)
    return Thread("chatgpt", told["id"], tuple(rows))


def claude(talks: list[Any], *, external_id: str) -> Thread:
    """Conversations of Claude, one after another. Results of tools, which stand in answers, follow them."""
    rows: list[Row] = []
    for talk in talks:
        for message in talk["chat_messages"]:
            is_human = message["sender"] == "human"
            blocks = [part for part in map(_claude_part, message["content"]) if part is not None]
            told = blocks or [{"type": "text", "text": message["text"] or "(nothing)"}]
            # the export keeps calls and results in one answer; a model is shown them in turns
            for number, (is_result, parts) in enumerate(
                itertools.groupby(told, key=lambda part: part["type"] == "tool_result")
            ):
                row: Row = {
                    "id": f"{talk['uuid']}/{message['uuid']}-{number}",
                    "role": "user" if is_human or is_result else "assistant",
                    "parts": list(parts),
                }
                _at(row, message["created_at"], rows)
    return Thread("claude", external_id, tuple(rows))


def irc(lines: list[str], *, day: date) -> Thread:
    """A day of a channel: many people, no roles."""
    rows = [
        {
            "id": row["message_id"],
            "text": row["text"],
            "sender_id": row["sender_id"],
            "sender_name": row["sender_name"],
            "is_self": False,
            "sent_at": row["sent_at"],
        }
        for row in irc_rows(lines, day=day)
    ]
    return Thread("irc", f"ubuntu-{day}", tuple(rows))


def locomo_talk(told: Any, number: int) -> Thread:
    """One LoCoMo conversation over months: two people, the first of them asks, the other answers."""
    talk = told["conversation"]
    rows: list[Row] = []
    for session in itertools.count(1):
        if (messages := talk.get(f"session_{session}")) is None:
            break
        begun = datetime.strptime(talk[f"session_{session}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        for place, message in enumerate(messages):
            rows.append(
                {
                    "id": message["dia_id"],
                    "role": "user" if message["speaker"] == talk["speaker_a"] else "assistant",
                    "text": message["text"],
                    "sender_id": message["speaker"],
                    "sender_name": message["speaker"],
                    "sent_at": (begun + timedelta(minutes=place)).isoformat(),
                }
            )
    return Thread("locomo", str(told.get("sample_id", number)), tuple(rows))


def made(turns: int, *, external_id: str = "made", tools_every: int = 7) -> Thread:
    """A user and an assistant for so many turns, of the demo's sentences; every ``tools_every``th answer asks a tool.

    About 20 tokens a question and 60 an answer, a turn a minute. The same arguments give the same thread.
    """
    texts = [line.text for chat in load_chats() for line in chat.lines if line.text and chat.language != "zh"]
    said = itertools.cycle(texts)
    rows: list[Row] = []
    for turn in range(1, turns + 1):
        at = MADE_START + timedelta(minutes=turn)

        def add(role: str, name: str, seconds: int, **content: Any) -> None:
            sent_at = (at + timedelta(seconds=seconds)).isoformat()  # noqa: B023 - called within the turn
            rows.append({"id": f"{turn}-{name}", "role": role, "sent_at": sent_at, **content})  # noqa: B023

        add("user", "question", 0, text=f"{next(said)} (question {turn})")
        if tools_every and turn % tools_every == 0:
            call = {"type": "tool_use", "id": f"call-{turn}", "name": "search", "input": {"query": next(said)}}
            found = {"type": "tool_result", "tool_use_id": f"call-{turn}", "content": "\n".join(_some(said, 8))}
            add("assistant", "call", 5, parts=[{"type": "text", "text": "One moment."}, call])
            add("user", "found", 10, parts=[found])
        add("assistant", "answer", 20, text=" ".join(_some(said, 3)))
    return Thread("made", external_id, tuple(rows))


def _chatgpt_row(message: Row, call: str | None) -> tuple[Row | None, str | None]:
    """A message and the tool call that is open behind it; None for what nobody said."""
    role, content = message["author"]["role"], message["content"]
    kind = content["content_type"]
    text = content.get("text") or "\n".join(
        part if isinstance(part, str) else json.dumps(part) for part in content.get("parts") or () if part
    )
    row: Row = {"id": message["id"], "role": role}
    if role == "assistant" and message["recipient"] != "all":
        part = {"type": "tool_use", "id": message["id"], "name": message["recipient"], "input": {"text": text}}
        return {**row, "parts": [part]}, message["id"]
    if role == "tool" and call is not None:
        part = {"type": "tool_result", "tool_use_id": call, "content": text}
        return {**row, "parts": [part]}, None
    if kind == "thoughts":
        return {**row, "parts": [{"type": "thinking", "thinking": text}]}, call
    if not text:
        return None, call
    return {**row, "text": text}, call


def _claude_part(part: Any) -> Row | None:
    match part:
        case {"type": "text", "text": str(text)} if text:
            return {"type": "text", "text": text}
        case {"type": "thinking", "thinking": str(text)} if text:
            return {"type": "thinking", "thinking": text}
        case {"type": "tool_use"}:
            name = part.get("name") or "tool"
            return {"type": "tool_use", "id": part.get("id") or f"call-{name}", "name": name, "input": part["input"]}
        case {"type": "tool_result", "tool_use_id": str(call)} if call:
            texts = [one["text"] for one in part.get("content") or () if isinstance(one.get("text"), str)]
            return {"type": "tool_result", "tool_use_id": call, "content": "\n".join(texts)}
    return None


def _at(row: Row, moment: float | str, rows: list[Row]) -> None:
    """Add ``row`` with its time, which is that of the message before where the export has none or an earlier one."""
    found = datetime.fromtimestamp(moment, UTC) if isinstance(moment, float) else _iso(moment)
    if found.tzinfo is None:
        found = found.replace(tzinfo=UTC)
    before = datetime.fromisoformat(rows[-1]["sent_at"]) if rows else found
    rows.append({**row, "sent_at": max(found, before).isoformat()})


def _iso(moment: str) -> datetime:
    """Some samples lack the digits behind the plus of an offset."""
    return datetime.fromisoformat(moment.rstrip("+"))


def _some(texts: Iterator[str], count: int) -> list[str]:
    return list(itertools.islice(texts, count))


def read(path: Path) -> Any:
    return json.loads(_text(path))


def _text(path: Path) -> str:
    if not path.is_file():
        raise CorpusMissing(path.name)
    return path.read_text(encoding="utf-8")
