"""How the parts of a Telegram export look in the text of the file, so that they are known where its JSON is broken.

Quotes within a string are always escaped, so that no text of a message can look like any of these.
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
"""No chat begins like this."""

MARKS: Final = re.compile(
    rf'(?P<entry>{_ENTRY})|(?P<chat>{_HEADER})|(?P<left>"left_chats"{_SPACE}:)|(?P<messages>"messages"{_SPACE}:{_SPACE}\[)',
    re.DOTALL,
)
"""Where reading may go on: at an entry, at the first key of a chat's head. The others end a chat without saying which
is next: ``left``, after which all chats are left ones, and messages behind a head that cannot be read."""

OLD_SENDER: Final = re.compile(rf'"(?:from|actor)_id"{_SPACE}:{_SPACE}\d'.encode())
"""In files of the time when ids of chats carried their kind (``telegram_chat``)."""

MESSAGE_LIST: Final = re.compile(rf"\[{_SPACE}{_ENTRY}")
CHAT_LIST: Final = re.compile(rf"\[{_SPACE}\{{{_SPACE}{_HEADER}", re.DOTALL)
CHAT_SECTION: Final = re.compile(
    rf'(?:\{{{_SPACE}(?:"about"{_SPACE}:{_SPACE}"[^"\\]*+(?:\\.[^"\\]*+)*+"{_SPACE},{_SPACE})?+"list"{_SPACE}:{_SPACE})?+'
    rf"{CHAT_LIST.pattern}",
    re.DOTALL,
)
"""What is behind a key that names nothing known (one bit of it may be wrong) and is what it would be behind ours."""
