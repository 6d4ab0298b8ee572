"""Who may call the API: tokens of the settings, or a token of this machine that is made once."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from pkg_pipeline.adapters.home_files import TokenUnusable, machine_token
from pkg_pipeline.api.security import ApiToken, TokensWrong, parse_tokens
from pkg_pipeline.cli.terminal import CommandFailed
from pkg_pipeline.settings import Settings

NOBODY_IS_ASKED = "none"
"""``PKG_API_TOKENS=none``: any program on this machine may call."""

OWN_TOKEN = "this-machine"


@dataclass(frozen=True, slots=True)
class Callers:
    """``own_secret`` belongs to the token made here; None if the settings name tokens, or none."""

    tokens: tuple[ApiToken, ...]
    own_secret: str | None


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
            return Callers(parse_tokens(given), None)
        secret = machine_token(settings.home)
    except TokensWrong as error:
        raise CommandFailed(f"PKG_API_TOKENS: {error}") from error
    except TokenUnusable as error:
        raise CommandFailed(str(error)) from error
    # whoever can read this file can read the memory without it
    return Callers((ApiToken(OWN_TOKEN, "admin", hashlib.sha256(secret.encode()).hexdigest()),), secret)


def curl_line(address: str, secret: str) -> str:
    """A curl command to paste into a shell."""
    return f'curl -H "Authorization: Bearer {secret}" {address}/v1/entities'


def _given(settings: Settings) -> str:
    return settings.api_tokens.get_secret_value().strip() if settings.api_tokens else ""
