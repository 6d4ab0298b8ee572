"""Patterns of Telegram export entries, to resume reading in broken JSON. Quotes in strings are escaped, so no message
text matches.
"""

from __future__ import annotations

import re
from typing import Final

_SPACE = r"[ \t\r\n]*"
_NAME = _SPACE.join(('"name"', ":", r'(?:null|"[^"\\]*+(?:\\.[^"\\]*+)*+")', ",", ""))
_HEADER = f"(?:{_NAME})?+" + _SPACE.join(
    ('"type"', ":", r'(?:null|"\w*")', ",", '"id"', ":", r"-?\d+", ",", '"messages"', ":", r"\[")
)
_ENTRY = _SPACE.join((r"\{", '"id"', ":", r"-?\d+", ",", '"type"', ":", '"'))

ENTRY: Final = re.compile(rf'{_ENTRY}(?:message|service|unsupported)"')

MARKS: Final = re.compile(
    rf'(?P<entry>{_ENTRY})|(?P<chat>{_HEADER})|(?P<left>"left_chats"{_SPACE}:)|(?P<messages>"messages"{_SPACE}:{_SPACE}\[)',
    re.DOTALL,
)
"""Where reading resumes: an entry, the first key of a chat header; or where a chat ends: ``left`` (left chats follow),
messages behind an unreadable header.
"""

OLD_SENDER: Final = re.compile(rf'"(?:from|actor)_id"{_SPACE}:{_SPACE}\d'.encode())
"""Of older exports (``telegram_chat``)."""

MESSAGE_LIST: Final = re.compile(rf"\[{_SPACE}{_ENTRY}")
CHAT_LIST: Final = re.compile(rf"\[{_SPACE}\{{{_SPACE}{_HEADER}", re.DOTALL)
CHAT_SECTION: Final = re.compile(
    rf'(?:\{{{_SPACE}(?:"about"{_SPACE}:{_SPACE}"[^"\\]*+(?:\\.[^"\\]*+)*+"{_SPACE},{_SPACE})?+"list"{_SPACE}:{_SPACE})?+'
    rf"{CHAT_LIST.pattern}",
    re.DOTALL,
)
"""What follows a misspelt key and matches what follows ours."""
