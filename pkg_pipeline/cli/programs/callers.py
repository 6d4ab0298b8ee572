"""Who may call the API that this machine serves: tokens of the settings, or one of its own that is made once."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from pkg_pipeline.adapters.home_files import TokenUnusable, machine_token
from pkg_pipeline.api.security import ApiToken, TokensWrong, parse_tokens
from pkg_pipeline.cli.terminal import CommandFailed
from pkg_pipeline.settings import Settings

NOBODY_IS_ASKED = "none"
"""``PKG_API_TOKENS=none``: every program of this machine may call."""

OWN_TOKEN = "this-machine"


@dataclass(frozen=True, slots=True)
class Callers:
    """``own_secret`` is that of the token made here; None where the settings name others, or none."""

    tokens: tuple[ApiToken, ...]
    own_secret: str | None


def has_tokens(settings: Settings) -> bool:
    """Whether the settings name tokens: only then may other machines reach the API."""
    return _given(settings) not in ("", NOBODY_IS_ASKED)


def callers_of(settings: Settings) -> Callers:
    """The tokens in force; its own is made on first use. Raises CommandFailed."""
    given = _given(settings)
    if given == NOBODY_IS_ASKED:
        return Callers((), None)
    try:
        if given:
            return Callers(parse_tokens(given), None)
        secret = machine_token(settings.home)
    except TokensWrong as error:
        raise CommandFailed(f"PKG_API_TOKENS: {error}") from error
    except TokenUnusable as error:
        raise CommandFailed(str(error)) from error
    # whoever can read the file can do anything with the memory without it
    return Callers((ApiToken(OWN_TOKEN, "admin", hashlib.sha256(secret.encode()).hexdigest()),), secret)


def curl_line(address: str, secret: str) -> str:
    """How a person asks the API, to be pasted into a shell."""
    return f'curl -H "Authorization: Bearer {secret}" {address}/v1/entities'


def _given(settings: Settings) -> str:
    return settings.api_tokens.get_secret_value().strip() if settings.api_tokens else ""
