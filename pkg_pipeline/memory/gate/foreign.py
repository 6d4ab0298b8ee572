"""Content that an answer brings in and its conversation lacks: links, numbers, names, keys, markup (B9).

Reasons quote nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from pkg_pipeline.memory.records import SourceMessage, SummaryInput
from pkg_pipeline.memory.text.normalise import sentences, stems

LONG_NUMBER_DIGITS = 4
"""Shorter numbers may be counts made by the model ("three questions")."""

YEARS = range(1900, 2101)
MAX_DAY = 31
ROUND_DIGITS = 2
"""A round number of so many leading digits may be spelled out in the source ("млн")."""

_TLD = (
    "com|net|org|info|biz|io|ai|app|dev|co|me|ru|su|by|ua|kz|cn|de|uk|fr|es|it|pl|eu|us|tv|cc|xyz|top|site|online|shop"
    "|club|link|click|example|test|invalid|local|onion|рф"
)
_LINK = re.compile(
    r"\b(?:h(?:tt|xx)ps?|ftp|file|data|javascript|mailto|tel|tg|ipfs)\s?:\s?/{0,2}[^\s<>\"'«»]+"
    r"|\bwww\.[^\s<>\"'«»]+"
    rf"|(?<![\w@.-])(?:[\w-]+\.)+(?:{_TLD})\b(?:[/:?#][^\s<>\"'«»]*)?"
    r"|\b\d{1,3}(?:\.\d{1,3}){3}\b(?:[:/]\S*)?",
    re.IGNORECASE,
)
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+", re.UNICODE)
_HANDLE = re.compile(r"(?<!\w)@[A-Za-z]\w{2,}")
_MARKUP = re.compile(r"</?[A-Za-z!][^<>]*>|!?\[[^\]]*\]\([^)]*\)|```")
FENCE_SHAPE = re.compile(
    r"<<<|>>>|\"(?:n|speaker|important|is_me|talk|me)\"\s*:|^\s*\[\d+\]\s*(?:\[!\]\s*)?\{"
    r"|^\s*\[(?:\d+,\s*\"[A-Z]{1,2}(?: \d\d:\d\d)?!?\",|\"[ad]\d+\",)",
    re.MULTILINE,
)
"""The form of the prompt's own lines: an answer that repeats them is an echo."""

_DATE_OR_TIME = re.compile(r"\b\d{4}-\d{2}-\d{2}\b|\b\d{1,2}[./-]\d{1,2}[./-]\d{2,4}\b|\b\d{1,2}:\d{2}(?::\d{2})?\b")
_NUMBER = re.compile(r"\d(?:[\d\s.,'’()-]{0,3}\d)*")
_MAGNITUDE = re.compile(
    r"тыс|млн|млрд|миллион|миллиард|лям|косар|thousand|million|billion|\bmln\b|\d\s?[kкmм]\b|hundred|сот|[万千百亿]",
    re.IGNORECASE,
)
_CAPITALISED = re.compile(r"(?<![A-Za-zÀ-ÿА-яЁё])[A-ZÀ-ÞА-ЯЁ][a-zà-ÿа-яё]{2,}")
_BEFORE_A_CAPITAL = "«\"'“(—–-•*:;.!?…"
_COMMON_CAPITALISED = stems(
    "january february march april may june july august september october november december jan feb mar apr jun jul aug "
    "sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun "
    "english russian chinese euro euros dollar dollars internet christmas easter "
    "вам вас вами ваш ваша ваше ваши вашей вашему рождество пасха интернет евро"
)
_CREDENTIAL = re.compile(
    r"\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}|\bAKIA[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{20,}|\bxox[abprs]-[A-Za-z0-9-]{10,}"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*|-----BEGIN [A-Z ]*PRIVATE KEY-----|\bAIza[\w-]{30,}|\bglpat-[\w-]{16,}"
    r"|(?i:\b(?:password|passwd|пароль|密码|口令|api[ _-]?key|secret|token|bearer|seed phrase|cvv|pin(?:[ -]?code)?"
    r"|пин-?код)\b\s*(?:[:=—-]|is|это|是)\s*\S+)"
)
_CREDENTIAL_TYPE = re.compile(
    r"passw|парол|密码|口令|api.?key|secret|секрет|token|токен|\bpin\b|пин|cvv|seed|private.?key|credential|otp|2fa"
    r"|код подтв|verification",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Known:
    """The content of a conversation, computed once. ``text`` and links are case-folded without spaces."""

    text: str
    digit_runs: tuple[str, ...]
    groups: frozenset[str]
    significant: frozenset[str]
    has_magnitude: bool
    stems: frozenset[str]


def known(source: SummaryInput) -> Known:
    """What may occur in an answer about ``source``: texts and participants' names."""
    names = [person.name for person in source.participants]
    names += [person.organization for person in source.participants if person.organization]
    texts = [*(_compat(message.text) for message in source.messages), *(_compat(name) for name in names)]
    groups = frozenset(group for text in texts for group in re.findall(r"\d+", text))
    numbers = [number for text in texts for number in _numbers(text)]
    return Known(
        text="\n".join(_squeezed(text) for text in texts),
        digit_runs=tuple("".join(re.findall(r"\d", text)) for text in texts),
        groups=groups,
        significant=frozenset(_significant(number) for number in [*numbers, *groups]),
        has_magnitude=any(_MAGNITUDE.search(text) for text in texts),
        stems=known_stems(source.messages) | stems(" ".join(names)),
    )


def known_stems(messages: Iterable[SourceMessage]) -> frozenset[str]:
    return stems("\n".join(message.text for message in messages))


def foreign(text: str, held: Known) -> str | None:
    """Why ``text`` may not be published, by the kind of the first foreign content, or None."""
    shown = _compat(text)
    if FENCE_SHAPE.search(text):
        return "repeats the form of the prompt"
    for pattern, what in ((_CREDENTIAL, "a key or password"), (_EMAIL, "an e-mail address"), (_HANDLE, "an account")):
        if any(_squeezed(match) not in held.text for match in _matches(pattern, shown)):
            return f"holds {what} that the conversation does not"
    if any(_bare_link(match) not in held.text for match in _matches(_LINK, shown)):
        return "holds a link that the conversation does not"
    if any(_squeezed(match) not in held.text for match in _matches(_MARKUP, shown)):
        return "holds markup that the conversation does not"
    if any(not _is_known_number(number, held) for number in _numbers(_LINK.sub(" ", _DATE_OR_TIME.sub(" ", shown)))):
        return "holds a number that the conversation does not"
    if any(stem not in held.stems for stem in _name_stems(text)):
        return "holds a name that the conversation does not"
    return None


def unsaid_number(text: str, held: Known) -> bool:
    """Whether an item holds a number absent from the source and too large for a count; stricter than ``foreign``."""
    if held.has_magnitude:
        return False
    numbers = ["".join(re.findall(r"\d", number)) for number in _numbers(_DATE_OR_TIME.sub(" ", _compat(text)))]
    return any(
        int(number) > MAX_DAY and int(number) not in YEARS and not any(number in run for run in held.digit_runs)
        for number in numbers
    )


def is_credential(fact_type: str, value: str) -> bool:
    """Whether a fact is a password, key or code; such facts are never kept."""
    return _CREDENTIAL.search(value) is not None or _CREDENTIAL_TYPE.search(fact_type) is not None


def digits(text: str) -> str:
    """All digits of ``text``, in order, in their plain form."""
    return "".join(re.findall(r"\d", _compat(text)))


def _compat(text: str) -> str:
    """Compatibility forms (NFKC), no invisible characters, all digits as 0-9."""
    if text.isascii():
        return text
    shown: list[str] = []
    for character in unicodedata.normalize("NFKC", text):
        if unicodedata.category(character) != "Cf":
            value = unicodedata.decimal(character, None)
            shown.append(character if value is None else str(value))
    return "".join(shown)


def _squeezed(text: str) -> str:
    return "".join(text.casefold().split())


def _matches(pattern: re.Pattern[str], text: str) -> list[str]:
    return [match.group().rstrip(".,;:!?)»”\"'") for match in pattern.finditer(text)]


def _bare_link(link: str) -> str:
    return re.sub(r"^(?:https?://)?(?:www\.)?", "", _squeezed(link)).rstrip("/")


def _numbers(text: str) -> list[str]:
    return [match.group() for match in _NUMBER.finditer(text)]


def _significant(number: str) -> str:
    return "".join(re.findall(r"\d", number)).strip("0")


def _is_known_number(number: str, held: Known) -> bool:
    groups = re.findall(r"\d+", number)
    joined = "".join(groups)
    if len(joined) < LONG_NUMBER_DIGITS or any(joined in run for run in held.digit_runs):
        return True
    significant = _significant(number)
    trailing_zeros = len(joined) - len(joined.rstrip("0"))
    if trailing_zeros >= 3 and held.has_magnitude:
        return significant in held.significant or len(significant) <= ROUND_DIGITS
    if significant in held.significant and "." in number:
        return True
    has_year = any(len(group) == 4 and int(group) in YEARS for group in groups)
    return all(
        group in held.groups
        or (len(group) == 4 and int(group) in YEARS)
        or (len(group) <= 2 and int(group) <= MAX_DAY and (has_year or len(groups) <= 2))
        for group in groups
    )


def _name_stems(text: str) -> list[str]:
    """Stems of capitalised words, except at the start of a sentence or bullet."""
    found: list[str] = []
    for sentence in sentences(text):
        for match in _CAPITALISED.finditer(sentence):
            before = sentence[: match.start()].rstrip()
            if before and before[-1] not in _BEFORE_A_CAPITAL:
                found.extend(stems(match.group()) - _COMMON_CAPITALISED)
    return found
