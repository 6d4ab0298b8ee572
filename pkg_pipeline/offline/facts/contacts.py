"""Values that are known by their shape: phones, mails, names online, bank accounts and cards."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pkg_pipeline.memory.records import Language
from pkg_pipeline.offline.facts.found import FactKind
from pkg_pipeline.offline.facts.words import any_cue, cue, regions

_EMAIL: Final = re.compile(
    r"(?<![A-Za-z0-9_.+-])[A-Za-z0-9_.+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.)+[a-zA-Z]{2,24}(?![A-Za-z0-9_@])"
)
_SPELT: Final = re.compile(
    r"\b(?P<user>[a-z0-9_-]{2,}(?:(?: dot | точка |\.)[a-z0-9_-]+)*)(?: ?[(\[](?:at|собака)[)\]] ?| (?:at|собака) )"
    r"(?P<host>[a-z0-9-]+(?:(?: dot | точка | ?[(\[]dot[)\]] ?)[a-z0-9-]+){1,3})\b",
    re.IGNORECASE | re.ASCII,
)
"""A mail address spelt in words."""
_DOT: Final = re.compile(r" dot | точка | ?[(\[]dot[)\]] ?", re.IGNORECASE)
_DIGITS: Final = re.compile(r"\d[\d\s().-]{5,}\d")
_NATIONAL: Final = re.compile(
    r"(?<![\d+.,/-])(?:0\d{1,4}[ -]?\d{3,4}[ -]?\d{3,4}|\(?\d{3}\)?[ -]\d{3}[ -]\d{4}|\d{5} \d{5})(?![\d/-])"
)
"""A number as it is written within a country that is not known."""
_IBAN: Final = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b")
_SORTED: Final = re.compile(
    r"(?<![\d-])(?P<sort>\d{2}-\d{2}-\d{2}),? (?:(?:account|acc|a/c)\W{0,2})?(?P<number>\d{4} ?\d{4})(?!\d)",
    re.IGNORECASE,
)
"""A sort code with its account."""
_ASKED: Final = re.compile(r"(?<![\d+])\d(?:[ -]?\d){7,21}(?!\d)")
"""Digits that answer a question for an account."""
_LONG: Final = re.compile(r"(?<![\d+])\d(?:[ -]?\d){11,19}(?!\d)")
_ACCOUNT: Final = re.compile(r"(?<![\d+-])\d{2}-\d{2}-\d{2}\b|(?<![\d+.,-])\d(?:[ -]?\d){6,15}(?!\d)")
_AT: Final = re.compile(r"(?<![\w@.])@[A-Za-z][\w.]{2,31}(?<!\.)")
_LINK: Final = re.compile(
    r"\b(?:t\.me|instagram\.com|github\.com|wa\.me|linkedin\.com/in|vk\.com)/(?P<value>[A-Za-z][\w.-]{2,38})\b"
)
NEAR: Final = 40
"""Characters before a number in which its word stands."""
CARD_DIGITS: Final = range(16, 20)
ACCOUNT_DIGITS: Final = 20
CHECKED_IBAN: Final = 97


@dataclass(frozen=True, slots=True)
class Contact:
    """A value in a text from ``start`` to ``end``; ``is_marked``: a word beside it says what it is."""

    kind: FactKind
    value: str
    start: int
    end: int
    is_marked: bool = False


def contacts_in(
    text: str, language: Language, countries: Sequence[str] = (), *, is_account_asked: bool = False
) -> list[Contact]:
    """Those of one text in their order; ``countries``: whose numbers are tried first without a code."""
    if any_cue("code").search(text):
        return []
    found: list[Contact] = []
    shaped = (*_accounts(text), *_mails(text), *_handles(text), *_addresses(text, language))
    asked = [Contact("account", m.group(), *m.span(), is_marked=True) for m in _ASKED.finditer(text)]
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

    for m in _SPELT.finditer(text):
        host = _DOT.sub(".", m["host"])
        if "." in host:
            value = f"{_DOT.sub('.', m['user'])}@{host}".lower().replace(" ", "")
            yield Contact("email", value, *m.span(), is_marked=True)


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
    for m in _AT.finditer(text):
        yield Contact("handle", m.group(), *m.span())


def _accounts(text: str) -> Iterator[Contact]:
    for m in _SORTED.finditer(text):
        yield Contact("account", f"{m['sort']} {m['number']}", *m.span(), is_marked=True)
    for m in _IBAN.finditer(text):
        plain = m.group().replace(" ", "")
        if _is_iban(plain) or any_cue("cue_bank").search(text[: m.start()]):
            yield Contact("account", plain, *m.span(), is_marked=True)
    for m in _LONG.finditer(text):
        plain = re.sub(r"\D", "", m.group())
        before = text[max(0, m.start() - NEAR) : m.start()]
        is_card = len(plain) in CARD_DIGITS and bool(any_cue("cue_card").search(before))
        if is_card or (len(plain) == ACCOUNT_DIGITS and any_cue("cue_bank").search(text)):
            yield Contact("account", plain, *m.span(), is_marked=True)
        elif len(plain) in CARD_DIGITS and (_is_luhn(plain) or any_cue("cue_bank").search(text)):
            yield Contact("account", plain, *m.span(), is_marked=bool(any_cue("cue_bank").search(text)))
    for m in _ACCOUNT.finditer(text):
        before = text[max(0, m.start() - NEAR) : m.start()]
        if any_cue("account_before").search(before):
            yield Contact("account", m.group(), *m.span(), is_marked=True)
    for m in re.finditer(
        rf"(?:{any_cue('money_by').pattern})\W{{0,3}}(?:is |me at |id )?(?P<value>@[\w.-]{{3,30}}|1\d{{10}})",
        text,
        re.IGNORECASE,
    ):
        yield Contact("account", m["value"], *m.span("value"), is_marked=True)


def _is_iban(plain: str) -> bool:
    turned = plain[4:] + plain[:4]
    return int("".join(str(int(one, 36)) for one in turned)) % CHECKED_IBAN == 1


def _is_luhn(plain: str) -> bool:
    doubled = [int(one) * (1 + place % 2) for place, one in enumerate(reversed(plain))]
    return sum(one - 9 * (one > 9) for one in doubled) % 10 == 0


def _phones(text: str, language: Language, countries: Sequence[str]) -> Iterator[Contact]:
    if not _DIGITS.search(text):
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
                yield Contact("phone", value, m.start, m.end, _is_called_phone(text, m.start, m.end))
    for m in _NATIONAL.finditer(text):
        is_free = all(m.end() <= start or end <= m.start() for start, end in seen)
        if is_free and _is_to_call(m.group(), text, *m.span()):
            yield Contact("phone", re.sub(r"\D", "", m.group()), *m.span(), _is_called_phone(text, *m.span()))


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
    if any_cue("not_phone").search(before) or any_cue("sum_after").match(text[end:]):
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
