"""The compact lines of talks in a prompt, read back as records: who said what, when, in which talk."""

from __future__ import annotations

from typing import Any

Record = dict[str, Any]
Blocks = dict[str, list[Any]]


def people(blocks: Blocks) -> list[Record]:
    """Each with ``name`` and ``is_me``."""
    return [{**one, "is_me": one.get("me", False)} for one in blocks.get("PEOPLE", [])]


def messages(blocks: Blocks) -> list[Record]:
    """Each with ``n``, ``speaker``, ``is_me``, ``time`` ("Thu 2024-03-14 23:30"), ``important``, ``text``, ``files``,
    and ``talk``, its number.
    """
    named = {one["id"]: one for one in people(blocks)}
    talk, day, time = 0, "", ""
    found: list[Record] = []
    for line in blocks["TALKS"]:
        if isinstance(line, dict):
            talk, day = line.get("talk", talk), line.get("day", day)
            continue
        number, said, text, *files = line
        letter, *told = said.rstrip("!").split(" ")
        time = told[0] if told else time
        found.append(
            {
                "n": number,
                "talk": talk,
                "speaker": named[letter]["name"],
                "is_me": named[letter]["is_me"],
                "time": f"{day} {time}",
                "important": said.endswith("!"),
                "text": text,
                "files": files[0] if files else [],
            }
        )
    return found


def summaries(blocks: Blocks) -> list[Record]:
    """Of a profile's prompt: each with ``n``, ``day``, ``tone``, ``text`` and ``decisions``."""
    names = ("n", "day", "tone", "text", "decisions")
    return [dict(zip(names, (*line, []), strict=False)) for line in blocks["SUMMARIES"]]
