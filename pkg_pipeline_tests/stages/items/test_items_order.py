"""However conversations come in, and wherever a pass dies, items end as after one import and one pass (B10, B16)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from pkg_pipeline.adapters.postgres.statements import Statements
from pkg_pipeline.stages.ports import Llm
from pkg_pipeline_tests.stages.items.item_rig import ItemRig, by, promises
from pkg_pipeline_tests.stages.summaries.summary_rig import OLD, ScriptedLlm

# the pool's threads draw random numbers of their own, which hypothesis takes for a strategy's
pytestmark = pytest.mark.filterwarnings(
    "ignore:Do not use the `random` module:hypothesis.errors.HypothesisDeprecationWarning"
)

SLOW = settings(
    max_examples=10,
    phases=(Phase.explicit, Phase.generate),
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

CHATS = {"anna": ("Me", "Anna"), "annas-other": ("Anna", "Me"), "team": ("Anna", "Me", "Bob"), "bob": ("Bob", "Me"),
         "zoe": ("Me", "Zoe")}  # fmt: skip
TEXTS = (
    "I will send the signed letter.",
    "Done: send the signed letter.",
    "I will bring the red chair.",
    "I may call the plumber.",
    "Done: call the plumber.",
    "Done: bring the red chair.",
    "Agreed: the red chair costs 300 EUR.",
    "Agreed: the red chair costs 400 EUR.",
    "Good.",
)


@dataclass(frozen=True)
class Talk:
    day: int
    chat: str
    texts: tuple[str, ...]


TALKS = st.lists(
    st.builds(
        Talk,
        st.integers(0, 25),
        st.sampled_from(["anna", "annas-other", "team", "bob"]),
        st.lists(st.sampled_from(TEXTS), min_size=1, max_size=3).map(tuple),
    ),
    min_size=4,
    max_size=9,
    unique_by=lambda talk: (talk.day, talk.chat),
)


class Died(BaseException):
    """The process is gone: nothing more is said to the database."""


class Rig(ItemRig):
    def begin_anew(self) -> None:
        """Nothing is there but who I am."""
        names = self.one(
            "SELECT string_agg(quote_ident(tablename), ', ') FROM pg_tables"
            " WHERE schemaname = 'pkg' AND tablename NOT IN ('alembic_version', 'installation')"
        )
        self.run(f"TRUNCATE {names}")
        self.take(Talk(0, "zoe", ("Good.", "Good.")))

    def take(self, *talks: Talk) -> None:
        for talk in talks:
            kind = "group" if talk.chat == "team" else "direct"
            at = OLD + timedelta(days=talk.day, minutes=sorted(CHATS).index(talk.chat))
            self.say(talk.chat, talk.texts, at=at, senders=CHATS[talk.chat], chat_kind=kind)
        self.load()

    def read_and_die(self, llm: Llm | None, at: int, monkeypatch: pytest.MonkeyPatch) -> None:
        """A pass of which the ``at``-th statement and all after it never arrive."""
        whole, told = Statements.execute, 0

        def execute(self: Statements, *arguments: Any, **options: Any) -> Any:
            nonlocal told
            told += 1
            if told >= at:
                raise Died
            return whole(self, *arguments, **options)

        with monkeypatch.context() as patched:
            patched.setattr(Statements, "execute", execute)
            with suppress(Died):
                self.read(llm)
        self.leases_ran_out()


@pytest.fixture
def rig(database_url: str, tmp_path: Path) -> Iterator[Rig]:
    made = Rig(database_url, tmp_path)
    yield made
    made.close()


def scripted() -> Llm:
    return ScriptedLlm(by(promises), is_paid=False)


@pytest.mark.parametrize("model", [scripted, None], ids=["scripted", "offline"])
def test_any_order_and_any_death_end_like_one_import_and_one_pass(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, model: Any
) -> None:
    llm = model and model()
    events = set[str]()

    @SLOW
    @given(st.data())
    def holds(data: st.DataObject) -> None:
        talks = data.draw(TALKS)
        rig.begin_anew()
        rig.take(*talks)
        rig.read(llm)
        expected = rig.derived()
        events.update(row[0] for row in rig.rows("SELECT DISTINCT event FROM item_states"))
        rig.begin_anew()
        for talk in data.draw(st.permutations(talks)):
            rig.take(talk)
            match data.draw(st.sampled_from(("wait", "read", "die"))):
                case "read":
                    rig.read(llm)
                case "die":
                    rig.read_and_die(llm, data.draw(st.integers(1, 60)), monkeypatch)
                case _:
                    pass
        rig.read(llm)
        assert rig.derived() == expected

    holds()
    assert events >= {"opened", "renewed", "done", "superseded"}
