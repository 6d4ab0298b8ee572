"""The compact lines of talks in a prompt, read back as records: who said what, when, in which talk."""

from __future__ import annotations

from typing import Any

Record = dict[str, Any]
Blocks = dict[str, list[Any]]


def people(blocks: Blocks) -> list[Record]:
    """Each with ``name`` and ``is_me``; in a profile's prompt they are among what is counted."""
    told = blocks.get("PEOPLE") or [one for one in blocks.get("COUNTED", []) if isinstance(one, dict) and "name" in one]
    return [{**one, "is_me": one.get("me", False)} for one in told]


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
    found: list[Record] = []
    for number, day, text, *more in blocks["SUMMARIES"]:
        decisions = next((one for one in more if isinstance(one, list)), [])
        tone = next((one for one in more if isinstance(one, str)), "neutral")
        found.append({"n": number, "day": day, "tone": tone, "text": text, "decisions": decisions})
    return found


def lines_of_brief(blocks: Blocks) -> list[Record]:
    """Of the prompt of a context in brief: each with ``n``, ``kind``, ``day``, ``text``."""
    return [dict(zip(("n", "kind", "day", "text"), line, strict=True)) for line in blocks["BRIEF"]]
