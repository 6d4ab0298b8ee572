"""Values of facts that a person types in: in the form of their type, or refused with the reason (B2)."""

from __future__ import annotations

from pkg_pipeline.memory.gate.fact_values import day_of, is_of_type
from pkg_pipeline.memory.gate.foreign import is_credential

MOST_CHARS = 200
MOST_TYPE_CHARS = 40


def entered_type(text: str) -> str:
    """Raises ValueError."""
    name = " ".join(text.replace("\0", "").split()).casefold()
    if not name or len(name) > MOST_TYPE_CHARS:
        raise ValueError(f"the type of a fact is 1 to {MOST_TYPE_CHARS} characters, such as phone or position")
    return name


def entered_value(fact_type: str, text: str) -> str:
    """A phone as E.164, a birthday as ``1990-03-14`` or ``03-14``, other values as one line. Raises ValueError."""
    value = " ".join(text.replace("\0", "").split())
    if not value or len(value) > MOST_CHARS:
        raise ValueError(f"the value of a fact is one line of 1 to {MOST_CHARS} characters")
    if is_credential(fact_type, value):
        raise ValueError("passwords, keys and codes are not kept")
    if fact_type == "phone":
        return _phone(value)
    if fact_type == "birthday":
        day = day_of(value)
        if day is None:
            raise ValueError(f"{value!r} is no birthday, such as 1990-03-14, or 03-14 without the year")
        return f"{day[0]:04}-{day[1]:02}-{day[2]:02}" if day[0] else f"{day[1]:02}-{day[2]:02}"
    if not is_of_type(fact_type, value):
        raise ValueError(f"{value!r} is no mail address, such as anna@example.org")
    return value


def _phone(value: str) -> str:
    import phonenumbers  # large: loaded for the first number

    try:
        number = phonenumbers.parse(value, None)
    except phonenumbers.NumberParseException:
        number = None
    if number is None or number.extension or not phonenumbers.is_possible_number(number):
        raise ValueError(f"{value!r} is no phone number with its country, such as +49 30 1234567")
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
