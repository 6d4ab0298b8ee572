"""Validation of single items: evidence, quote, dates, owner, words (P13, P17, P34).

Each function returns the published record or None, with reasons in the ``DropLog``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date

from pkg_pipeline.memory.gate.amounts import COMPARED_DIGITS
from pkg_pipeline.memory.gate.calendar import mentions, single_days
from pkg_pipeline.memory.gate.checker import Checker, DropLog, Evidence
from pkg_pipeline.memory.gate.fact_values import day_of, is_of_type, is_over, is_wished, written_day
from pkg_pipeline.memory.gate.foreign import digits, foreign, is_credential
from pkg_pipeline.memory.gate.instructions import gives_orders
from pkg_pipeline.memory.gate.number_words import dictated, folded
from pkg_pipeline.memory.gate.people import find_person
from pkg_pipeline.memory.gate.records import CandidateDecision, CandidateFact
from pkg_pipeline.memory.gate.wording import said_elsewhere
from pkg_pipeline.memory.records import (
    DecisionItem,
    FactCandidate,
)
from pkg_pipeline.memory.text.normalise import word_count

MAX_TYPE_WORDS = 5
"""Of a fact's type: "home delivery address"."""

_ISO_DATE = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[T ]\d{2}:\d{2}.*)?")
_PART = re.compile(r"\w+")
_USE = re.compile(r" \(([^\W\d_]+)\)$")
"""What a number is for, behind it: "(work)"."""
_CYRILLIC = re.compile(r"[а-яё]+", re.IGNORECASE)
_STEM = 3
"""Letters by which two forms of a word are one, and by which their lengths may differ."""
_PHONE_DIGITS = 5


def check_decision(item: CandidateDecision, part: str, checker: Checker, log: DropLog) -> DecisionItem | None:
    """P13, P17. A date that is missing, unreadable or after the conversation becomes that of the evidence."""
    evidence = checker.evidence(item.numbers, item.quote)
    if isinstance(evidence, str):
        return log.note(part, evidence)
    if (fault := checker.untrue(item.description, evidence)) is not None:
        return log.note(part, *fault)
    decided = parse_date(item.date)
    if decided is not None and decided < checker.first_date and not checker.names(decided, evidence):
        return log.note(part, "is dated before the conversation, and its messages name no such day", item.date)
    if decided is None or decided > checker.last_date:
        log.note(f"{part}.date", "is no date of this conversation; that of the cited message is taken")
        decided = checker.local_date(evidence.messages[-1])
    return DecisionItem(
        id=checker.item_id("decision", evidence, item.description),
        description=item.description.strip(),
        date=decided,
        importance=item.importance,
        quote=evidence.quote,
        message_ids=evidence.ids,
    )


def check_fact(item: CandidateFact, part: str, checker: Checker, log: DropLog) -> FactCandidate | None:
    """P13, P17. The value must occur in the cited messages; credentials are never kept."""
    evidence = checker.evidence(item.numbers, item.quote)
    if isinstance(evidence, str):
        return log.note(part, evidence)
    if not 0.0 <= item.confidence <= 1.0 or not item.fact_type.strip():
        return log.note(part, "its confidence or type is out of range")
    value = _value_of(item, evidence, checker)
    if value is None:
        return log.note(part, "its value is not in the cited messages")
    if not is_of_type(item.fact_type, value):
        return log.note(part, "its value has not the form of its type")
    if is_credential(item.fact_type, value) or is_credential(item.fact_type, evidence.quote):
        return log.note(part, "is a password, key or code")
    if not item.is_ended and is_over(item.fact_type, value, evidence):
        return log.note(part, "holds no longer by its messages")
    if (reason := _type_reason(item.fact_type, evidence, checker)) is not None:
        return log.note(part, reason)
    if gives_orders(f"{item.fact_type}: {item.value}") or foreign(item.fact_type, checker.held) is not None:
        return log.note(part, "gives orders to its reader or names what the conversation does not")
    about = None
    if item.about is not None and item.about.strip():
        about = find_person(item.about, checker.source.participants)
        if about is None:
            return log.note(part, "is about nobody who took part")
    return FactCandidate(
        id=checker.item_id("fact", evidence, f"{item.fact_type} {value}"),
        fact_type=" ".join(item.fact_type.split()),
        value=value,
        confidence=item.confidence,
        quote=evidence.quote,
        message_ids=evidence.ids,
        entity_id=about.entity_id if about is not None else None,
    )


def _type_reason(fact_type: str, evidence: Evidence, checker: Checker) -> str | None:
    """Why a fact's type is not the name of a kind of value, or None."""
    if word_count(fact_type) > MAX_TYPE_WORDS:
        return f"its type has more than {MAX_TYPE_WORDS} words"
    cited = [message.text for message in evidence.messages]
    others = [message.text for message in checker.source.messages if message not in evidence.messages]
    if said_elsewhere(fact_type, cited, others):
        return "its type says what a message says that it does not cite"
    fault = checker.testimony(evidence.messages, checker.source.participants).figures(fact_type)
    return None if fault is None else fault.reason


def parse_date(text: str | None) -> date | None:
    """The day of an ISO date or time; None for anything else."""
    match = _ISO_DATE.fullmatch((text or "").strip())
    if match is None:
        return None
    try:
        return date.fromisoformat(match.group(1))
    except ValueError:
        return None


def due_of(answered: str | None, evidence: Evidence, part: str, checker: Checker, log: DropLog) -> date | None:
    """A due date that the cited words name, or alone those beside them; any other is dropped, not its item."""
    if answered is None or not answered.strip():
        return None
    due = parse_date(answered)
    if due is None:
        return log.note(f"{part}.due_date", "is no ISO date", answered)
    if not checker.testimony(evidence.messages, ()).follows_due(due):
        return log.note(f"{part}.due_date", "does not follow from the words of its messages", answered)
    return due


def due_beside(
    answered: str | None, text: str, evidence: Evidence, part: str, checker: Checker, log: DropLog
) -> tuple[date | None, bool]:
    """The due date of a text, and whether the text names other days alone; then it has none."""
    due = due_of(answered, evidence, part, checker, log)
    testimony = checker.testimony(evidence.messages, checker.source.participants)
    days = single_days(testimony.without_names(text), checker.local_date(evidence.messages[-1]))
    is_other = bool((answered or "").strip()) and bool(days) and due not in days
    return (None, True) if is_other else (due, False)


def _value_of(item: CandidateFact, evidence: Evidence, checker: Checker) -> str | None:
    """The value as it is kept, or None where the cited messages do not say it; a birthday as a day."""
    is_day_wished = item.fact_type == "birthday" and is_wished(item.value, evidence, checker)
    value = _value_in(item.value, evidence, checker)
    if value is None and (is_day_wished or _is_declined_in(item.value, evidence) or _is_with_s(item.value, evidence)):
        value = item.value.strip()
    if value is None or item.fact_type != "birthday":
        return value
    return written_day(value, checker.local_date(evidence.messages[-1]))


def _value_in(value: str, evidence: Evidence, checker: Checker) -> str | None:
    """The source's spelling of a fact's value, or the answered one where only its form differs.

    Spacing and country code of numbers, the order of parts, and the form of a day may differ.
    """
    for message in evidence.messages:
        span = checker.folded(message).find(value)
        if span is not None:
            return span.strip()
    wanted = digits(value)
    use = _USE.search(value)
    number = value if use is None else value[: use.start()]
    is_use_said = use is None or any(use[1].casefold() in one.text.casefold() for one in evidence.messages)
    is_number = is_use_said and len(wanted) >= _PHONE_DIGITS and not any(map(str.isalpha, number))
    if is_number and any(wanted[-COMPARED_DIGITS:] in said for said in _numbers_said(evidence)):
        return value.strip()
    plain = "".join(value.split()).casefold()
    is_code = len(plain) > COMPARED_DIGITS and any(map(str.isdigit, plain))
    if is_code and any(plain in "".join(message.text.split()).casefold() for message in evidence.messages):
        return value.strip()
    if _is_day_in(value, evidence, checker):
        return value.strip()
    parts = _PART.findall(folded(value.replace("_", " ") if "@" in value else value))
    said = (_PART.findall(folded(message.text)) for message in evidence.messages)
    spare = len(parts) - 1 if "@" in value else 1  # a mail spelt in words has "dot" and "at" between its parts
    is_said = len(parts) > 1 and any(_stand_together(parts, one, str.__eq__, spare) for one in said)
    return value.strip() if is_said else None


def _numbers_said(evidence: Evidence) -> Iterator[str]:
    """The digits of each cited message, of all of them in a row, and those told in words."""
    texts = [message.text for message in evidence.messages]
    yield from map(digits, texts)
    yield digits("".join(texts))
    yield from (digits(dictated(text)) for text in texts)


def _is_declined_in(value: str, evidence: Evidence) -> bool:
    """Whether a cited message says the Russian words of a value in any case ("сестра Катя": "у сестры Кати")."""
    wanted = _CYRILLIC.findall(folded(value))
    said = [_CYRILLIC.findall(folded(message.text)) for message in evidence.messages]
    if not wanted or len(wanted) != len(value.split()):
        return False
    return any(_stand_together(wanted, words, _is_form) for words in said)


def _is_with_s(value: str, evidence: Evidence) -> bool:
    """Whether a cited message says an English value with an s behind it ("at my sisters", "my sons")."""
    is_plain = value.isascii() and value.replace(" ", "").isalpha()
    return is_plain and any(re.search(rf"\b{re.escape(value)}s\b", m.text, re.I) for m in evidence.messages)


def _stand_together(
    wanted: Sequence[str], words: Sequence[str], is_same: Callable[[str, str], bool], spare: int = 1
) -> bool:
    """Whether words stand beside each other in any order, with few others: not those of two relatives."""
    length = len(wanted) + spare
    stretches = (words[at : at + length] for at in range(max(1, len(words) - length + 1)))
    return any(all(any(is_same(one, word) for word in stretch) for one in wanted) for stretch in stretches)


def _is_form(one: str, word: str) -> bool:
    return word.startswith(one[: max(_STEM, len(one) - 2)]) and abs(len(one) - len(word)) <= _STEM


def _is_day_in(value: str, evidence: Evidence, checker: Checker) -> bool:
    """Whether a value is a day (``04-24`` or with its year) that the messages name in their words."""
    found = day_of(value)
    if found is None:
        return False
    days = checker.testimony(evidence.messages, ()).days.days
    year, month, day = found
    if any((one.month, one.day) == (month, day) and year in (0, one.year) for one in days):
        return True
    return not year and any(_is_day_apart(month, day, message.text, checker) for message in evidence.messages)


def _is_day_apart(month: int, day: int, text: str, checker: Checker) -> bool:
    """Whether a text names a month and, apart from it, a day of it ("in June, the 21st")."""
    named = mentions(text, checker.source.messages[-1].sent_at.date())
    spans = [one.span for one in named if one.span is not None and one.span[0].day == 1]
    is_month = any(span[0].month == month == span[-1].month for span in spans)
    return is_month and re.search(rf"(?<!\d){day}(?!\d)", text) is not None
