"""Who may call the API: tokens of the settings, or a token of this machine that is made once."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from pkg_pipeline.adapters.home_files import TokenUnusable, machine_token, read_machine_token
from pkg_pipeline.api.security import ApiToken, TokensWrong, parse_tokens
from pkg_pipeline.cli.terminal import CommandFailed
from pkg_pipeline.place_settings import MEMORIES_FOLDER
from pkg_pipeline.settings import Settings

NOBODY_IS_ASKED = "none"
"""``PKG_API_TOKENS=none``: any program on this machine may call."""

OWN_TOKEN = "this-machine"


LOOK_SECONDS = 1.0
"""A token of a memory that was just made is known after it."""


@dataclass(frozen=True, slots=True)
class Callers:
    """``own_secret`` belongs to the token made here; None if the settings name tokens, or none. ``named``: callers of
    the memories that have names, None where nobody is asked.
    """

    tokens: tuple[ApiToken, ...]
    own_secret: str | None
    named: NamedCallers | None = None


@dataclass(slots=True)
class NamedCallers:
    """Tokens of named memories: those that the settings name, or else the one in the folder of each, below ``home``."""

    tokens: tuple[ApiToken, ...]
    home: Path | None = None
    _looked: float = field(default=float("-inf"), init=False)

    def memory_of(self, digest: str) -> str | None:
        """The memory that a secret opens, by its sha256."""
        return next((one.memory for one in self._in_force() if one.digest == digest), None)

    def of(self, memory: str) -> tuple[ApiToken, ...]:
        return tuple(one for one in self._in_force() if one.memory == memory)

    def _in_force(self) -> tuple[ApiToken, ...]:
        if self.home is not None and time.monotonic() - self._looked > LOOK_SECONDS:
            self._looked = time.monotonic()
            self.tokens = tuple(_of_folders(self.home / MEMORIES_FOLDER))
        return self.tokens


def _of_folders(folder: Path) -> list[ApiToken]:
    found: list[ApiToken] = []
    for home in sorted(folder.iterdir()) if folder.is_dir() else ():
        try:
            found.append(_own_token(read_machine_token(home), home.name))
        except TokenUnusable:
            continue  # it opens nothing
    return found


def _own_token(secret: str, memory: str | None = None) -> ApiToken:
    return ApiToken(OWN_TOKEN, "admin", hashlib.sha256(secret.encode()).hexdigest(), memory)


def has_tokens(settings: Settings) -> bool:
    """Whether the settings name tokens; only then may other machines reach the API."""
    return _given(settings) not in ("", NOBODY_IS_ASKED)


def callers_of(settings: Settings) -> Callers:
    """The tokens in force; this machine's own is made on first use. Raises CommandFailed."""
    given = _given(settings)
    if given == NOBODY_IS_ASKED:
        return Callers((), None)
    try:
        if given:
            # of the memory in force there is no need to say the name
            tokens = [
                replace(one, memory=None) if one.memory == settings.memory else one for one in parse_tokens(given)
            ]
            return Callers(tuple(tokens), None, NamedCallers(tuple(one for one in tokens if one.memory is not None)))
        secret = machine_token(settings.memory_home)
    except TokensWrong as error:
        raise CommandFailed(f"PKG_API_TOKENS: {error}") from error
    except TokenUnusable as error:
        raise CommandFailed(str(error)) from error
    # whoever can read this file can read the memory without it
    return Callers((_own_token(secret),), secret, NamedCallers((), settings.home if settings.memory is None else None))


def curl_line(address: str, secret: str) -> str:
    """A curl command to paste into a shell."""
    return f'curl -H "Authorization: Bearer {secret}" {address}/v1/entities'


def _given(settings: Settings) -> str:
    return settings.api_tokens.get_secret_value().strip() if settings.api_tokens else ""
