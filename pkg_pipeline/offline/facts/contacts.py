"""Values that are known by their shape: phones, mails, names online, bank accounts and cards."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

from pkg_pipeline.memory.gate.number_words import dictated
from pkg_pipeline.memory.records import Language
from pkg_pipeline.offline.facts.accounts import ASKED, NEAR, Contact, accounts_in
from pkg_pipeline.offline.facts.words import any_cue, cue, regions

_EMAIL: Final = re.compile(
    r"(?<![A-Za-z0-9_.+-])[A-Za-z0-9_.+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.)+[a-zA-Z]{2,24}(?![A-Za-z0-9_@])"
)
_DIGITS: Final = re.compile(r"\d[\d\s().-]{5,}\d")
_NATIONAL: Final = re.compile(
    r"(?<![\d+.,/-])(?:(?=\(?0(?:\D{0,2}\d){8})\(?0\d{1,4}\)?[ -]?\d{3,4}[ -]?\d{3,4}"
    r"|\(?\d{3}\)?[ -]\d{3}[ -]\d{4}|\d{5} \d{5})(?![\d/-])"
)
"""A number as it is written within a country that is not known."""
_LOCAL: Final = re.compile(r"(?<![\d+.,/-])(?:\d{3}-\d{2}-\d{2}|\d{4} \d{4}|\d{3} \d{3} \d{3})(?![\d/-]| \d)")
"""A number as it is written within a town, or where a country has no codes of towns; a word must say what it is."""
_DICTATED: Final = re.compile(r"\+?\d(?:[ ,.-]{0,3}\d){8,14}")
_AT: Final = re.compile(r"(?<![\w@.])@[A-Za-z][\w.]{2,31}(?<!\.)")
_LINK: Final = re.compile(
    r"\b(?:t\.me|instagram\.com|github\.com|wa\.me|linkedin\.com/in|vk\.com)/(?P<value>[A-Za-z][\w.-]{2,38})\b"
)
LONGEST_DICTATED: Final = 160
"""Characters of a message that tells a number in words."""
PAID_NEAR: Final = 60
"""Characters within which the name of a service says what an @name is of."""


def contacts_in(
    text: str, language: Language, countries: Sequence[str] = (), *, is_account_asked: bool = False
) -> list[Contact]:
    """Those of one text in their order; ``countries``: whose numbers are tried first without a code."""
    if any_cue("code").search(text):
        return []
    found: list[Contact] = []
    shaped = (*accounts_in(text), *_mails(text), *_handles(text), *_addresses(text, language))
    asked = [Contact("account", m.group(), *m.span(), is_marked=True) for m in ASKED.finditer(text)]
    for one in (*shaped, *(asked if is_account_asked else ()), *_phones(text, language, countries)):
        if all(one.end <= other.start or other.end <= one.start for other in found):
            found.append(one)
    paid = [one for one in found if one.kind == "phone" and _is_paid_by(text, one)]
    found += [Contact("account", one.value, one.start, one.end, is_marked=True) for one in paid]
    return sorted(found, key=lambda one: one.start)


def _is_paid_by(text: str, phone: Contact) -> bool:
    """Whether money is sent by a number: a bank is named beside it."""
    around = text[max(0, phone.start - NEAR) : phone.end + NEAR]
    return any_cue("paid_by_phone").search(around) is not None


def _addresses(text: str, language: Language) -> Iterator[Contact]:
    for m in cue(language, "address_shape").finditer(text):
        yield Contact("address", m.group().strip(" ,.，。"), *m.span(), is_marked=True)


def _mails(text: str) -> Iterator[Contact]:
    for m in _EMAIL.finditer(text):
        pays = any_cue("money_by").search(text[max(0, m.start() - NEAR) : m.start()])
        yield Contact("account" if pays else "email", m.group().lower(), *m.span(), is_marked=True)

    yield from _spelt_mails(text)


def _spelt_mails(text: str) -> Iterator[Contact]:
    """Addresses dictated in words."""
    at, dot, line = (any_cue(f"spelt_{part}").pattern for part in ("at", "dot", "line"))
    between = rf"(?: (?:{dot}|{line}) | ?[(\[](?:{dot})[)\]] ?|\.)"
    spelt = rf"(?<![a-z0-9])(?P<user>[a-z0-9_-]{{2,}}(?:{between}[a-z0-9_-]+)*)(?: ?[(\[](?:{at})[)\]] ?| (?:{at}) )"
    host = rf"(?P<host>[a-z0-9-]+(?:(?: (?:{dot}) | ?[(\[](?:{dot})[)\]] ?|\.)[a-z0-9-]+){{1,3}})(?![a-z0-9])"
    for m in re.finditer(spelt + host, text, re.IGNORECASE):
        if " at " in m.group().lower() and "." in m["host"]:
            continue  # "look at page.html"
        user, host = (_plain_mail(m[part], dot, line) for part in ("user", "host"))
        yield Contact("email", f"{user}@{host}", *m.span(), is_marked=True)


def _plain_mail(text: str, dot: str, line: str) -> str:
    text = re.sub(rf" (?:{dot}) | ?[(\[](?:{dot})[)\]] ?", ".", text, flags=re.IGNORECASE)
    return re.sub(rf" (?:{line}) ", "_", text, flags=re.IGNORECASE).lower().replace(" ", "")


def _handles(text: str) -> Iterator[Contact]:
    for m in _LINK.finditer(text):
        yield Contact("handle", m["value"], *m.span(), is_marked=True)
    named = any_cue("messenger").pattern
    for m in re.finditer(
        rf"(?<![A-Za-z])(?:{named})[^\n@]{{0,20}}?(?P<value>@[A-Za-z][\w.]{{2,31}}(?<!\.))", text, re.IGNORECASE
    ):
        yield Contact("handle", m["value"], *m.span("value"), is_marked=True)
    shape = r"(?P<value>(?!https?\b|www\b)[A-Za-z][\w.-]{4,30}(?<!\.)(?=[\s,，。!！)）;]|$))"
    for m in re.finditer(
        rf"(?<![A-Za-z])(?:{named})(?:\s*(?:is|id|ID|号|是|搜索?|叫|：|:|—|-)\s*)+{shape}", text, re.IGNORECASE
    ):
        if (
            re.search(r"[\d_.]", m["value"])
            or "id" in m.group().lower()
            or not m["value"].islower()
            or ":" in m.group()
            or "号" in m.group()
        ):
            yield Contact("handle", m["value"], *m.span("value"), is_marked=True)
    for m in re.finditer(
        rf"(?<![A-Za-z])(?:{named})\s+(?P<value>(?=[\w-]{{6}})[A-Za-z][A-Za-z-]*[\d_][\w-]*)(?![\w@.])",
        text,
        re.I | re.A,
    ):
        yield Contact("handle", m["value"], *m.span("value"), is_marked=True)
    named = named.replace("|x|", "|")
    for m in re.finditer(
        rf"(?<![A-Za-z])(?:{named})[^\n@\d]{{0,24}}?(?<![A-Za-z\d_.@/-])"
        r"(?P<value>(?=[A-Za-z\d.]*[_\d]|[a-z]+\.[a-z]+\.)[A-Za-z][A-Za-z\d_.]{5,30})(?<!\.)(?![\w@-]|\.\w)",
        text,
        re.IGNORECASE,
    ):
        yield Contact("handle", m["value"], *m.span("value"), is_marked=True)
    for m in _AT.finditer(text):
        around = text[max(0, m.start() - PAID_NEAR) : m.start()], text[m.end() : m.end() + PAID_NEAR]
        if any_cue("money_by").search(around[0]):
            yield Contact("account", m.group(), *m.span(), is_marked=True)
        is_named = any(re.search(rf"(?<![A-Za-z])(?:{named})(?![A-Za-z])", one, re.IGNORECASE) for one in around)
        yield Contact("handle", m.group(), *m.span(), is_named or any_cue("own_handle").search(around[0]) is not None)


def _phones(text: str, language: Language, countries: Sequence[str]) -> Iterator[Contact]:
    if not _DIGITS.search(text):
        yield from _dictated(text, language, countries)
        return
    import phonenumbers  # loaded for the first number that may be one

    seen: list[tuple[int, int]] = []
    for region in dict.fromkeys((*countries, *regions(language))):
        for m in phonenumbers.PhoneNumberMatcher(text, region, leniency=phonenumbers.Leniency.POSSIBLE):
            is_known = m.raw_string.startswith("+") or _is_written_so(m, region)
            if not is_known or any(m.start < end and start < m.end for start, end in seen):
                continue
            if _is_to_call(m.raw_string, text, m.start, m.end):
                seen.append((m.start, m.end))
                value = phonenumbers.format_number(m.number, phonenumbers.PhoneNumberFormat.E164)
                is_shared = phonenumbers.number_type(m.number) in _of_nobody()
                yield Contact("phone", value, m.start, m.end, _is_called_phone(text, m.start, m.end), is_shared)
    for m in _LOCAL.finditer(text):
        is_free = all(m.end() <= start or end <= m.start() for start, end in seen)
        called = any_cue("cue_phone").search(text[max(0, m.start() - NEAR) : m.start()])
        if is_free and called and _is_to_call(m.group(), text, *m.span()):
            seen.append(m.span())
            yield Contact("phone", re.sub(r"\D", "", m.group()), *m.span(), is_marked=True)
    for m in _NATIONAL.finditer(text):
        is_free = all(m.end() <= start or end <= m.start() for start, end in seen)
        if is_free and _is_to_call(m.group(), text, *m.span()):
            yield Contact("phone", re.sub(r"\D", "", m.group()), *m.span(), _is_called_phone(text, *m.span()))


@cache
def _of_nobody() -> frozenset[int]:
    """Types of numbers by which nobody is reached: free or dear ones, those of a whole firm."""
    import phonenumbers

    types = phonenumbers.PhoneNumberType
    return frozenset({types.TOLL_FREE, types.PREMIUM_RATE, types.SHARED_COST, types.UAN})


def _dictated(text: str, language: Language, countries: Sequence[str]) -> Iterator[Contact]:
    """A number told in words, the only thing that a message tells."""
    if len(text) > LONGEST_DICTATED or not (m := _DICTATED.search(dictated(text))):
        return
    import phonenumbers

    for region in dict.fromkeys((*countries, *regions(language))):
        try:
            number = phonenumbers.parse(re.sub(r"[^\d+]", "", m.group()), region)
        except phonenumbers.NumberParseException:
            continue
        if phonenumbers.is_valid_number(number):
            value = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
            yield Contact("phone", value, 0, len(text), is_marked=True)
            return
    if re.fullmatch(r"0\d{9,10}", plain := re.sub(r"\D", "", m.group())):
        yield Contact("phone", plain, 0, len(text), is_marked=True)


def _is_written_so(m: object, region: str) -> bool:
    """Whether a number without a code is one of the country, written as it is there."""
    import phonenumbers

    assert isinstance(m, phonenumbers.PhoneNumberMatch)
    if not phonenumbers.is_valid_number(m.number):
        return False
    if region == "US":
        return re.fullmatch(r"\(?\d{3}\)?[ .-]?\d{3}[ .-]\d{4}", m.raw_string) is not None
    return region in ("RU", "CN") or m.raw_string.lstrip("(").startswith("0")


def _is_to_call(number: str, text: str, start: int, end: int) -> bool:
    """Whether digits may be a phone: no order, price, account or date."""
    before = text[max(0, start - NEAR) : start]
    is_other = any_cue("not_phone").search(before) and not any_cue("own_number").search(before)
    if is_other or any_cue("sum_after").match(text[end:]):
        return False
    is_called = any_cue("cue_phone").search(before) or any_cue("paid_by_phone").search(before)
    if any_cue("cue_bank").search(before) and not is_called:
        return False
    if re.fullmatch(r"\d{4}[-./ ]\d{1,2}[-./ ]\d{1,2}(?: \d{1,2})?|\d{1,2}[-./]\d{1,2}[-./]\d{2,4}", number):
        return False
    return text[max(0, start - 1) : start] not in tuple("/=_€$£#") and text[end : end + 1] not in ("/", "_")


def _is_called_phone(text: str, start: int, end: int) -> bool:
    return bool(any_cue("cue_phone").search(text[max(0, start - 2 * NEAR) : end + NEAR]))


def countries_of(texts: Sequence[str]) -> tuple[str, ...]:
    """The countries of the numbers that are written with their code, the commonest first."""
    import phonenumbers

    found: list[str] = []
    for text in texts:
        if "+" in text and _DIGITS.search(text):
            for m in phonenumbers.PhoneNumberMatcher(text, None, leniency=phonenumbers.Leniency.POSSIBLE):
                region = phonenumbers.region_code_for_number(m.number)
                found += [region] if region else []
    return tuple(sorted(dict.fromkeys(found), key=lambda one: -found.count(one)))
