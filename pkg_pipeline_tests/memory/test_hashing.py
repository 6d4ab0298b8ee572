"""Ids and keys: fixed values that stored rows rely on, injectivity, and the way back from a key."""

from __future__ import annotations

import hashlib
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg_pipeline.memory import hashing

ANY_TEXT = st.text(st.characters(codec=None), max_size=30)
PART = st.text(st.characters(codec=None), min_size=1, max_size=12)
ONE = UUID("00000000-0000-0000-0000-000000000001")
TWO = UUID("00000000-0000-0000-0000-000000000002")


@pytest.mark.parametrize("text", ["", "ок", "договорились, 15 марта", "好的，没问题", "👍🏽"])
def test_content_hash_is_plain_sha256_of_utf8(text: str) -> None:
    assert hashing.content_hash(text) == hashlib.sha256(text.encode()).hexdigest()


@given(ANY_TEXT)
def test_content_hash_never_raises(text: str) -> None:
    assert len(hashing.content_hash(text)) == 64


def test_ids_in_databases_of_today_stay_valid_tomorrow() -> None:
    """These values are in people's databases; a change here orphans every row."""
    assert str(hashing.entity_id("telegram", "user42")) == "1da6fc39-14b8-5dec-8427-1ef9129c3311"
    assert str(hashing.chat_id("telegram", "personal_chat:42")) == "ff833914-be6a-55b6-8184-c899bccfea6d"
    assert str(hashing.interaction_id("telegram:personal_chat:42", "1001")) == "b6eaeeaa-4d61-5938-b9c7-faad8b0ae5fd"
    assert (
        hashing.input_hash([("1", "a"), (2, "b")]) == "279ff2f7b594cc08c4edd0434888744e0349076aa3575b022e598df48948bfef"
    )


def test_the_kind_of_row_is_part_of_its_id() -> None:
    assert hashing.entity_id("a", "b") != hashing.chat_id("a", "b") != hashing.interaction_id("a", "b")


@given(st.lists(PART, min_size=2, max_size=4), st.lists(PART, min_size=2, max_size=4))
def test_no_two_item_descriptions_share_an_id(left: list[str], right: list[str]) -> None:
    same = hashing.item_id(ONE, *left) == hashing.item_id(ONE, *right)
    assert same == (left == right)


def test_moving_a_character_over_a_border_changes_the_id() -> None:
    assert hashing.entity_id("ab", "c") != hashing.entity_id("a", "bc")
    assert hashing.input_hash([("1", "23")]) != hashing.input_hash([("12", "3")])
    assert hashing.input_hash([("1", "2"), ("3", "4")]) != hashing.input_hash([("1", "2")], "3", "4")


def test_input_hash_depends_on_order_text_and_context() -> None:
    plain = hashing.input_hash([("1", "a"), ("2", "b")])
    assert plain == hashing.input_hash(iter([("1", "a"), ("2", "b")]))
    assert plain != hashing.input_hash([("2", "b"), ("1", "a")])
    assert plain != hashing.input_hash([("1", "a"), ("2", "c")])
    assert plain != hashing.input_hash([("1", "a"), ("2", "b")], "en")


def test_editing_back_and_forth_makes_a_chain_and_no_cycle() -> None:
    """A → B → A: the second A has the first A's text but B as its parent."""
    kwargs = {"prompt_version": "p/1", "model": "m"}
    first = hashing.summary_id(ONE, "A", parent_id=None, **kwargs)
    second = hashing.summary_id(ONE, "B", parent_id=first, **kwargs)
    third = hashing.summary_id(ONE, "A", parent_id=second, **kwargs)
    assert len({first, second, third}) == 3


@pytest.mark.parametrize(
    "changed",
    [
        {"prompt_version": "p/2"},
        {"model": "n"},
        {"parent_id": TWO},
    ],
)
def test_summary_id_depends_on_prompt_model_and_parent(changed: dict[str, object]) -> None:
    base: dict[str, object] = {"prompt_version": "p/1", "model": "m", "parent_id": None}
    assert hashing.summary_id(ONE, "A", **base) != hashing.summary_id(ONE, "A", **(base | changed))
    assert hashing.summary_id(ONE, "A", **base) != hashing.summary_id(TWO, "A", **base)


def test_two_equal_texts_of_different_messages_stay_two_chunks() -> None:
    assert hashing.chunk_id("e:1", ["m1"], "ok") != hashing.chunk_id("e:1", ["m2"], "ok")
    assert hashing.chunk_id("e:1", ["m2", "m1"], "ok") == hashing.chunk_id("e:1", ["m1", "m2"], "ok")


@pytest.mark.parametrize(
    ("parts", "key"),
    [
        (("telegram", "personal_chat:42", "1001"), "telegram:personal_chat%3A42/1001"),
        (("email", "<a/b@c>", "x y"), "email:%3Ca%2Fb%40c%3E/x%20y"),
        (("jsonl", "чат", "100%"), "jsonl:%D1%87%D0%B0%D1%82/100%25"),
    ],
)
def test_message_keys_are_percent_encoded_part_by_part(parts: tuple[str, str, str], key: str) -> None:
    assert hashing.message_key(*parts) == key
    assert hashing.parse_message_key(key) == parts


@given(PART, PART, PART)
def test_a_message_key_leads_back_to_its_parts(source: str, chat: str, message: str) -> None:
    assert hashing.parse_message_key(hashing.message_key(source, chat, message)) == (source, chat, message)


@pytest.mark.parametrize("key", ["", "a", "a:b", "a/b", ":b/c", "a:/c", "a:b/", "a:b/c/d", "a:b:c/d", "a:b/c:d"])
def test_what_is_no_message_key_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match="not a message key"):
        hashing.parse_message_key(key)


@pytest.mark.parametrize("parts", [("", "b", "c"), ("a", "", "c"), ("a", "b", "")])
def test_a_message_without_a_part_has_no_key(parts: tuple[str, str, str]) -> None:
    with pytest.raises(ValueError, match="not a message"):
        hashing.message_key(*parts)


def test_a_chat_key_keeps_the_colons_of_its_external_id() -> None:
    assert hashing.chat_key("telegram", "personal_chat:42") == "telegram:personal_chat:42"
    assert hashing.parse_chat_key("telegram:personal_chat:42") == ("telegram", "personal_chat:42")


@pytest.mark.parametrize(("source", "external_id"), [("", "x"), ("x", ""), ("a:b", "c")])
def test_an_ambiguous_chat_key_is_not_made(source: str, external_id: str) -> None:
    with pytest.raises(ValueError, match="not a chat"):
        hashing.chat_key(source, external_id)


@pytest.mark.parametrize("key", ["", "x", ":x", "x:"])
def test_what_is_no_chat_key_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match="not a chat key"):
        hashing.parse_chat_key(key)
