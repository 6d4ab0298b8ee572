"""Persons follow from decisions alone: whoever is joined is one, and what is undone never was (B20)."""

from __future__ import annotations

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from pkg_pipeline.memory.people.persons import Decided, Verdict, decided, dismissed

A, B, C, D, E = (UUID(int=number) for number in range(1, 6))
accounts = st.sampled_from((A, B, C, D, E))
verdicts = st.lists(
    st.one_of(
        st.builds(Verdict, st.just("join"), accounts, accounts),
        st.builds(Verdict, st.just("part"), accounts),
        st.builds(Verdict, st.sampled_from(("rename", "alias", "unalias")), accounts, name=st.sampled_from("xyz")),
        st.builds(Verdict, st.just("dismiss"), accounts, accounts),
    ),
    max_size=12,
)


def person_of(people: list[Decided]) -> dict[UUID, UUID]:
    return {account: person.id for person in people for account in person.accounts}


def test_a_join_keeps_the_first_and_a_parted_account_is_alone() -> None:
    joined = [Verdict("join", A, B), Verdict("join", C, A)]
    assert decided(joined) == [Decided((C, A, B))]
    assert person_of(decided([*joined, Verdict("part", A)])) == {A: A, C: C, B: C}
    assert person_of(decided([*joined, Verdict("part", C)])) == {C: C, A: A, B: A}


def test_names_are_those_of_any_account() -> None:
    (one,) = decided(
        [
            Verdict("rename", B, name="Bea"),
            Verdict("alias", B, name="Bee"),
            Verdict("join", A, B),
            Verdict("alias", A, name="Abe"),
        ]
    )
    assert (one.name, one.aliases) == ("Bea", ("Abe", "Bee"))
    named = [Verdict("join", A, B), Verdict("rename", B, name="Bea"), Verdict("rename", A, name="Ann")]
    assert decided(named)[0].name == "Ann"
    assert {one.id: one.name for one in decided([*named, Verdict("part", B)])} == {A: "Ann", B: "Bea"}
    added = [Verdict("alias", A, name="x"), Verdict("join", B, A), Verdict("unalias", B, name="x")]
    assert decided(added)[0].aliases == ()


def test_what_is_mine_is_nobody_elses() -> None:
    people = decided([Verdict("join", A, B), Verdict("join", A, C)], {B})
    assert person_of(people) == {A: A, C: A, B: B}


def test_dismissals_are_pairs_in_any_order() -> None:
    assert dismissed([Verdict("dismiss", B, A), Verdict("join", A, C)]) == {frozenset((A, B))}


@given(verdicts)
def test_every_account_is_of_one_person_who_is_one_of_them(given_verdicts: list[Verdict]) -> None:
    people = decided(given_verdicts)
    known = [account for person in people for account in person.accounts]
    assert len(known) == len(set(known))
    assert set(known) >= {one.entity for one in given_verdicts}
    assert all(person.id in person.accounts for person in people)


@given(verdicts, accounts, accounts)
def test_a_join_of_one_person_changes_nothing(given_verdicts: list[Verdict], one: UUID, other: UUID) -> None:
    joined = [*given_verdicts, Verdict("join", one, other)]
    assert person_of(decided(joined))[one] == person_of(decided(joined))[other]
    assert decided([*joined, Verdict("join", other, one)]) == decided(joined)


@given(verdicts, accounts, accounts)
def test_a_join_and_a_part_of_single_accounts_are_nothing(
    given_verdicts: list[Verdict], one: UUID, other: UUID
) -> None:
    before = person_of(decided(given_verdicts))
    alone = [person.id for person in decided(given_verdicts) if len(person.accounts) == 1]
    if one == other or (other in before and other not in alone):
        return
    after = person_of(decided([*given_verdicts, Verdict("join", one, other), Verdict("part", other)]))
    assert {account: after[account] for account in before} == before


@given(verdicts, st.sets(accounts))
def test_mine_and_others_are_never_one(given_verdicts: list[Verdict], selves: set[UUID]) -> None:
    assert all(
        len({account in selves for account in person.accounts}) == 1 for person in decided(given_verdicts, selves)
    )


@given(verdicts)
def test_what_is_joined_follows_from_joins_and_parts_alone(given_verdicts: list[Verdict]) -> None:
    few = [one for one in given_verdicts if one.action in ("join", "part")]
    kept, whole = person_of(decided(few)), person_of(decided(given_verdicts))
    assert {account: whole[account] for account in kept} == kept
