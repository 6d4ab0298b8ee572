"""The files of PKG_HOME, and that no other user can read them. Files are private too, not only the folder: they may be
copied.
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
    "memories",
    "dev.lock",
    "dev.pid",
    "logs",
    TOKEN_FILE,
    "pkg.toml",
)
"""Nothing else in PKG_HOME is touched."""


class TokenUnusable(Exception):
    """The token file cannot be used; one line with reason and remedy."""


def open_to_others(home: Path) -> list[Path]:
    """Our files, and targets of links, that others may read; none in a home they cannot enter."""
    found: list[Path] = []
    with suppress(OSError):
        if home.stat().st_mode & OTHERS & ~_server_bit(home, home.stat()):
            for path in _places(home):
                with suppress(OSError):
                    if _lax_bits(path, path.stat(), home):
                        found.append(path)
    return found


def make_private(home: Path) -> None:
    """Create the home, or remove others' permissions from our files; foreign files, links and files of other users are
    left alone.
    """
    if not home.exists():
        with suppress(OSError):  # reported by whoever needs the home
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
    """Others' permissions on one of our files."""
    if found.st_uid != os.geteuid():
        return 0
    return found.st_mode & OTHERS & ~(_server_bit(home, found) if path == home else 0)


def _server_bit(home: Path, found: os.stat_result) -> int:
    """As root the server has its own user, whose group may enter the home."""
    with suppress(OSError):
        if os.geteuid() == 0 and (home / "postgres").stat().st_gid == found.st_gid != 0:
            return stat.S_IXGRP
    return 0


def machine_token(home: Path) -> str:
    """The API token of this user's programs, created once. Raises TokenUnusable."""
    file = home / TOKEN_FILE
    if not file.exists():
        make_private(home)
        part = home / f".{TOKEN_FILE}.{os.getpid()}.{threading.get_ident()}"
        try:
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600), "w") as stream:
                stream.write(secrets.token_urlsafe(TOKEN_BYTES) + "\n")
            with suppress(FileExistsError):
                os.link(part, file)  # atomic; the first of two processes wins
        except OSError as error:
            raise TokenUnusable(f"{file} cannot be written: {error.strerror}") from error
        finally:
            part.unlink(missing_ok=True)
    return read_machine_token(home)


def read_machine_token(home: Path) -> str:
    """None if there is none. Raises TokenUnusable."""
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
