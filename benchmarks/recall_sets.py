"""What recall is measured on: corpora of several kinds with judged questions, each read from where it lies.

Short talks of two (LoCoMo), meetings of many (QMSum), three languages' own questions, long answers of assistants, and
facts of the invented accounts, asked for in the language of the account and in the two others. What is public lies
beside the checkout and is only read; a set whose files are missing is left out.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks import threads
from benchmarks.corpora import LANGUAGES, ROOT, SAMPLES, CorpusMissing, corpus, fingerprint, key_of
from benchmarks.recall_in_memory import Said
from training.accounts import load as load_accounts
from training.worlds import FactLabel, World

EVAL = ROOT.parent / "shared" / "eval"
QUESTIONS = ROOT / "benchmarks" / "questions"
LATER = timedelta(days=30)
"""Questions without a time are asked so long after the last message."""
MANY_SPEAKERS = 3


@dataclass(frozen=True, slots=True)
class Asked:
    """``evidence``: message keys, each with the words that have to be printed. ``chat``: asked within it."""

    question: str
    kind: str
    at: datetime
    evidence: tuple[tuple[str, str], ...]
    chat: str | None = None
    before: tuple[tuple[str, str], ...] = ()
    """What held before the newest value that is asked for."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """``is_for_measuring``: no weights are fitted to it, for its licence or because it is kept apart."""

    name: str
    said: tuple[Said, ...]
    questions: tuple[Asked, ...]
    is_for_measuring: bool = False


def corpora(names: Sequence[str] = ()) -> Iterator[Corpus]:
    """Those named (default: all) whose files are there."""
    makers: dict[str, Callable[[], Corpus]] = {
        "locomo": lambda: _judged("locomo", "locomo_dev.json", is_for_measuring=True),
        "qmsum": lambda: _judged("qmsum", "qmsum_dev.json"),
        "threads": agent_threads,
        **{language: lambda language=language: _own(language) for language in LANGUAGES},
        **{f"facts_{language}": lambda language=language: facts(language) for language in LANGUAGES},
        **{
            f"{part}_{language}": lambda language=language, part=part: of_accounts(language, part)
            for part in ("asked", "held", "dev", "people", "people_held")
            for language in LANGUAGES
        },
        **{f"translated_{language}": lambda language=language: translated(language) for language in LANGUAGES},
    }
    for name in names or makers:
        try:
            yield makers[name]()
        except (CorpusMissing, FileNotFoundError) as missing:
            print(f"SKIPPED {name}: {Path(str(missing)).name or missing} is not there")


def _judged(name: str, file: str, *, is_for_measuring: bool = False) -> Corpus:
    if not (EVAL / "locomo_recall.py").is_file():
        raise FileNotFoundError(file)
    if str(EVAL) not in sys.path:
        sys.path.insert(0, str(EVAL))
    judge: Any = importlib.import_module("locomo_recall")
    said: list[Said] = []
    questions: list[Asked] = []
    told = judge.load(EVAL / file)
    last = max(_moment(one.messages[-1].sent_at) for one in told)
    for one in told:
        spoken = {message.id: message.spoken for message in one.messages}
        rows = {
            row.id: row for row in (Said(one.id, m.id, m.speaker, _moment(m.sent_at), m.text) for m in one.messages)
        }
        said += rows.values()
        for question in one.questions:
            evidence = tuple((rows[key].key, spoken[key]) for key in question.evidence)
            kind = judge.CATEGORIES[question.category] if name == "locomo" else _kind_of_meeting(question.text)
            questions.append(Asked(question.text, kind, last + LATER, evidence, one.id))
    return Corpus(name, tuple(said), tuple(questions), is_for_measuring)


def _kind_of_meeting(question: str) -> str:
    return "summary" if question.casefold().startswith("summar") else "what somebody said"


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(f"{text}+00:00")


def _own(language: str) -> Corpus:
    """The questions of ``questions/LANGUAGE.jsonl``."""
    rows = corpus(language, SAMPLES)
    said = [
        Said(
            row["chat_id"],
            row["message_id"],
            row.get("sender_name") or row["sender_id"],
            datetime.fromisoformat(row["sent_at"]),
            row["text"],
            source=row["source"],
        )
        for row in rows
    ]
    texts = {key_of(row): row["text"] for row in rows}
    return Corpus(
        language,
        tuple(said),
        tuple(
            Asked(
                one["question"],
                "crossing" if one["language"] != language else one["kind"],
                datetime.fromisoformat(one["asked_at"]),
                tuple((key, texts[key]) for key in one["evidence"]),
            )
            for one in _lines(QUESTIONS / f"{language}.jsonl")
        ),
    )


def agent_threads(samples: Path = SAMPLES) -> Corpus:
    """A person and an assistant whose answers have hundreds of words. Evidence: lines of a message."""
    for name in (threads.CHATGPT, *threads.CLAUDE):
        if not (samples / name).is_file():
            raise CorpusMissing(name)
    told = [threads.chatgpt(threads.read(samples / threads.CHATGPT))]
    talks = [threads.read(samples / name) for name in threads.CLAUDE if "polylogue" not in name]
    told.append(threads.claude(talks, external_id="samples"))
    said: dict[str, Said] = {}
    for thread in told:
        for row in thread.rows:
            text = (
                row["text"]
                if "text" in row
                else "\n".join(one["text"] for one in row["parts"] if one["type"] == "text")
            )
            chat = row["id"].split("/")[0] if "/" in row["id"] else thread.external_id
            at = datetime.fromisoformat(row["sent_at"])
            said[row["id"]] = Said(chat, row["id"], row["role"], at, text, is_tool_result=row["role"] == "tool")
    asked_at = max(one.at for one in said.values()) + LATER
    questions: list[Asked] = []
    for one in _lines(QUESTIONS / "threads.jsonl"):
        parts = [
            (said[key].key, "\n".join(said[key].text.split("\n")[first - 1 : last]))
            for key, first, last in one["evidence"]
        ]
        if fingerprint(text for _, text in parts) != one["fingerprint"]:
            raise ValueError(f"a sample has changed under the question {one['question']!r}")
        kind = one["kind"] if one["language"] == "en" else "crossing"
        questions.append(Asked(one["question"], kind, asked_at, tuple(parts)))
    return Corpus("threads", tuple(one for one in said.values() if one.text), tuple(questions))


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


FACT_QUESTIONS = {
    "en": {
        "phone": "What is the phone number of {who}?",
        "email": "What is the e-mail address of {who}?",
        "address": "Where does {who} live?",
        "birthday": "When is the birthday of {who}?",
        "position": "What does {who} do for a living?",
        "organisation": "Where does {who} work or study?",
        "family": "What relatives does {who} have?",
        "preference": "What does {who} like or not like?",
        "account": "What is the account number of {who}?",
    },
    "ru": {
        "phone": "Какой номер телефона: {who}?",
        "email": "Какой адрес почты: {who}?",
        "address": "Где живёт {who}?",
        "birthday": "Когда день рождения у {who}?",
        "position": "Кем работает {who}?",
        "organisation": "Где работает или учится {who}?",
        "family": "Какие родные есть у {who}?",
        "preference": "Что любит или не любит {who}?",
        "account": "Какой номер счёта: {who}?",
    },
    "zh": {
        "phone": "{who}的电话号码是多少？",
        "email": "{who}的邮箱是什么？",
        "address": "{who}住在哪里？",
        "birthday": "{who}的生日是哪天？",
        "position": "{who}是做什么工作的？",
        "organisation": "{who}在哪里上班或上学？",
        "family": "{who}家里有什么人？",
        "preference": "{who}喜欢什么，不喜欢什么？",
        "account": "{who}的账号是多少？",
    },
}
"""How the facts of the accounts are asked for."""


def facts(language: str) -> Corpus:
    """Everything the accounts of a language say of somebody, in one memory, asked for in three languages."""
    worlds = [world for world in load_accounts() if world.language == language]
    said = {(world.name, key): one for world in worlds for key, one in _said(world)}
    asked_at = max(one.at for one in said.values()) + LATER
    known: dict[tuple[str, str], list[tuple[World, FactLabel]]] = defaultdict(list)
    for world in worlds:
        for fact in world.facts:
            known[fact.who, fact.type].append((world, fact))
    questions: list[Asked] = []
    for (who, kind), found in known.items():
        if who == "Me" or len({world.name for world, _ in found}) > 1 or kind not in FACT_QUESTIONS["en"]:
            continue
        keys = dict.fromkeys((world.name, fact.message) for world, fact in found)
        evidence = tuple((said[key].key, said[key].text) for key in keys)
        for asking, templates in FACT_QUESTIONS.items():
            label = kind if asking == language else "crossing"
            questions.append(Asked(templates[kind].format(who=who), label, asked_at, evidence))
    return Corpus(f"facts_{language}", tuple(said.values()), tuple(questions))


def of_accounts(language: str, part: str = "asked") -> Corpus:
    """Questions to the accounts of a language: ``dev`` to seven of them, for developing; to others, every other one is
    ``asked``, those between are ``held``: only measured. ``people``: about who somebody is and what holds now, every
    other one; those between are ``people_held``.
    """
    worlds = [world for world in load_accounts() if world.language == language]
    said = {(world.name, key): one for world in worlds for key, one in _said(world)}
    asked_at = max(one.at for one in said.values()) + LATER
    if part == "dev":
        rows = [row for row in _lines(QUESTIONS / "developing.jsonl") if row["account"].startswith(language)]
    elif part.startswith("people"):
        rows = [row for row in _lines(QUESTIONS / "people.jsonl") if row["language"] == language]
        rows = rows[part == "people_held" :: 2]
    else:
        rows = _lines(QUESTIONS / f"accounts_{language}.jsonl")[part == "held" :: 2]
    questions: list[Asked] = []
    for row in rows:
        evidence, before = (
            tuple((said[row["account"], key].key, said[row["account"], key].text) for key in row.get(name, ()))
            for name in ("evidence", "before")
        )
        if fingerprint(text for _, text in (*evidence, *before)) != row["fingerprint"]:
            raise ValueError(f"an account has changed under the question {row['question']!r}")
        label = row["kind"] if row["language"] == language or row["kind"] == "newest" else f"{row['kind']}, crossing"
        questions.append(Asked(row["question"], label, asked_at, evidence, before=before))
    return Corpus(f"{part}_{language}", tuple(said.values()), tuple(questions), is_for_measuring=part.endswith("held"))


def translated(language: str) -> Corpus:
    """The questions for developing to the accounts of a language, each asked in all three languages."""
    asked = of_accounts(language, "dev")
    rows = [row for row in _lines(QUESTIONS / "translated.jsonl") if row["account"].startswith(language)]
    questions: list[Asked] = []
    for row, one in zip(rows, asked.questions, strict=True):
        if row["question"] != one.question:
            raise ValueError(f"{one.question!r} has no translation in its place")
        questions += (replace(one, question=row.get(to, one.question), kind=f"asked in {to}") for to in LANGUAGES)
    return Corpus(f"translated_{language}", asked.said, tuple(questions), is_for_measuring=True)


def _said(world: World) -> Iterator[tuple[str, Said]]:
    for talk in world.talks:
        for message in talk.messages:
            chat = f"{world.name}-{message.external_id.split('-')[0]}"
            sender = message.sender
            name = "Me" if sender is None or sender.is_self else sender.name
            yield message.external_id, Said(chat, message.external_id, name, message.sent_at, message.text)
