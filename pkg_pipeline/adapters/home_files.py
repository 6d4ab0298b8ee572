"""What the program keeps in PKG_HOME, and that no other user of the machine reads it.

Everything said and every key lies there. A private folder is enough for what is in it; files are private all the same,
for the day on which they are copied. What the files hold is the business of whoever writes them.
"""

from __future__ import annotations

import os
import secrets
import stat
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from pkg_pipeline.adapters.server import embedded

OTHERS = 0o077
TOKEN_FILE = "api-token"
TOKEN_BYTES = 32
SHORTEST_TOKEN = 20

OURS = (
    "postgres",
    *(f"postgres{suffix}" for suffix in embedded.FILES_BESIDE),
    "dagster",
    "inbox",
    "cache",
    "demo",
    "dev.lock",
    "dev.pid",
    "logs",
    TOKEN_FILE,
    "pkg.toml",
)
"""All that the program puts into PKG_HOME; nothing else there is touched."""


class TokenUnusable(Exception):
    """The file with this machine's token cannot be used; one line says why and what to do."""


def open_to_others(home: Path) -> list[Path]:
    """What of ours others may read: nothing in a home that they cannot enter.

    Also what a link leads to, since the secret is there.
    """
    found: list[Path] = []
    with suppress(OSError):
        if home.stat().st_mode & OTHERS & ~_server_bit(home, home.stat()):
            for path in _places(home):
                with suppress(OSError):
                    if _lax_bits(path, path.stat(), home):
                        found.append(path)
    return found


def make_private(home: Path) -> None:
    """Make the home if there is none, and take from others what they may do in one that is laxer.

    What is not ours is left alone: a home that other things lie in, links, what another user owns.
    """
    if not home.exists():
        with suppress(OSError):  # whoever needs the home says that it cannot be made
            home.mkdir(mode=0o700, parents=True, exist_ok=True)
        return
    for path in _places(home):
        with suppress(OSError):
            _close(path, home)


def _close(path: Path, home: Path) -> None:
    found = path.lstat()
    if stat.S_ISLNK(found.st_mode) or not _lax_bits(path, found, home):
        return
    path.chmod(stat.S_IMODE(found.st_mode) & ~_lax_bits(path, found, home))
    if path != home and stat.S_ISDIR(found.st_mode) and _is_all_ours(home):
        for folder, _, files in os.walk(path):
            for inner in (Path(folder), *(Path(folder, name) for name in files)):
                with suppress(OSError):
                    if not inner.is_symlink():
                        inner.chmod(stat.S_IMODE(inner.lstat().st_mode) & ~OTHERS)


def _places(home: Path) -> Iterator[Path]:
    if _is_all_ours(home):
        yield home
    for name in OURS:
        yield home / name


def _is_all_ours(home: Path) -> bool:
    try:
        return all(name in OURS for name in os.listdir(home))  # noqa: PTH208 - names are all that is needed
    except OSError:
        return False


def _lax_bits(path: Path, found: os.stat_result, home: Path) -> int:
    """What others may do with a thing of ours."""
    if found.st_uid != os.geteuid():
        return 0
    return found.st_mode & OTHERS & ~(_server_bit(home, found) if path == home else 0)


def _server_bit(home: Path, found: os.stat_result) -> int:
    """As root the embedded server is a user of its own, whose group may pass through the home."""
    with suppress(OSError):
        if os.geteuid() == 0 and (home / "postgres").stat().st_gid == found.st_gid != 0:
            return stat.S_IXGRP
    return 0


def machine_token(home: Path) -> str:
    """The secret that programs of this user show to the API: made once, then always the same. Raises TokenUnusable."""
    file = home / TOKEN_FILE
    if not file.exists():
        make_private(home)
        part = home / f".{TOKEN_FILE}.{os.getpid()}.{threading.get_ident()}"
        try:
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600), "w") as stream:
                stream.write(secrets.token_urlsafe(TOKEN_BYTES) + "\n")
            with suppress(FileExistsError):
                os.link(part, file)  # whole or not at all, and the first of two that start together wins
        except OSError as error:
            raise TokenUnusable(f"{file} cannot be written: {error.strerror}") from error
        finally:
            part.unlink(missing_ok=True)
    return read_machine_token(home)


def read_machine_token(home: Path) -> str:
    """The secret, where there is one. Raises TokenUnusable."""
    file = home / TOKEN_FILE
    try:
        with os.fdopen(os.open(file, os.O_RDONLY | os.O_NOFOLLOW)) as stream:
            owner = os.fstat(stream.fileno()).st_uid
            secret = stream.read().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise TokenUnusable(f"{file} cannot be read: {getattr(error, 'strerror', None) or 'it is no text'}") from error
    if (
        owner not in (os.geteuid(), 0)
        or len(secret) < SHORTEST_TOKEN
        or not secret.isascii()
        or not secret.isprintable()
    ):
        raise TokenUnusable(f"{file} does not hold a token of this user; remove it, and the next start makes another")
    return secret
