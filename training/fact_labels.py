"""Whether a found fact is a labelled one: the same kind, whose it is, and what it says."""

from __future__ import annotations

import re
from collections.abc import Iterable
from unicodedata import combining, normalize

from pkg_pipeline.memory.languages.scripts import is_cyrillic, is_han
from pkg_pipeline.memory.text.normalise import comparable
from pkg_pipeline.offline.reading import language_of, stem
from training.worlds import FactLabel

TYPES = {"organisation": "organization", "handle": "account"}
FREE = {"family", "preference", "address", "position", "organization"}
"""Types whose values are words: half of the label's words must be there."""
SHARED = 0.5
SAME_BEGINNING = 5
SAME_KIN = {
    "mother": r"\b(?:mum|mom|mam|ma|mummy|mama|mammy|mommy|momma)s?\b",
    "father": r"\b(?:dad|da|daddy|papa|pa)s?\b",
    "grandmother": r"\b(?:gran|granny|nan|nana|nanna|grandma)s?\b",
    "grandfather": r"\b(?:grand?dad|grandpa)\b",
    "wife": r"\b(?:missus|mrs)\b",
    "husband": r"\bhubby\b",
    "мама": r"\b(?:мат(?:ь|ери|ерью)|маму?ля)\b",
    "папа": r"\b(?:отец|отца|отцу|отцом|бат[яюие])\b",
    "бабушка": r"\b(?:бабул\w+|баб[аыу])\b",
    "дед": r"\b(?:дедушк\w+|дедуля)\b",
    "сестра": r"\b(?:сестрёнк\w+|сестренк\w+|сеструх\w+)\b",
    "сын": r"\b(?:сынок|сынишк\w+|пацан)\b",
    "дочь": r"\b(?:доч[кч]\w+|доченька)\b",
    "тётя": r"\b(?:т[её]тк\w+|т[её]тушк\w+)\b",
    "дядя": r"\b(?:дядьк\w+|дядюшк\w+)\b",
    "boyfriend": r"\b(?:bf|boyf|fella)s?\b",
    "妻子": "老婆|太太|媳妇|老伴|爱人|新娘|老太婆",
    "丈夫": "老公|先生|老头子",
    "女儿": "闺女|女兒",
    "儿子": "兒子",
    "孩子": "娃|崽",
    "岳母": "丈母娘",
    "岳父": "老丈人|丈人",
    "女朋友": "女友",
    "男朋友": "男友",
}
"""Words for one relative, which are the same value."""
AGAINST = re.compile(
    r"\b(?:no|not|never|nothing|without|off|cannot|cant|dont|doesnt|hates?|avoids?|allerg\w+|intoleran\w+|hives|epipen)\b|n['’]t\b|-free\b"
    r"|\b\w+ (?:makes?|gives?|allergy)\b|coeliac|celiac|vegan|veg\b|vegetarian|teetotal|diabet"
    r"|\b(?:не|без|нельзя|ни|никак\w+|терпеть|ненави\w+|аллерг\w+|непереносим\w+|бросил\w*|завязал\w*|закодир\w+|от|кроме|боится|боюсь|опух\w+|от[её]к\w*)\b|диабет"
    r"|[不别忌戒怕无少]|过敏|過敏|讨厌|討厭|疹|素|受不了|血[糖压]高|痛风|心悸|唔",
    re.IGNORECASE,
)
"""Words by which a taste is against something; two that differ in it are not the same."""
SAME_TASTE = {
    "vegetarian": r"\b(?:pure |strictly )?veg(?:gie)?\b",
    "allergic": r"\ballergy\b",
    "аллергия": r"\bаллергик\b",
}
SMALL = frozenset(
    re.findall(
        r"\S+",
        "the a an to of is in at on not no can cant t do dont does doesn don eat eats have any anything "
        "не в на без нельзя ест ем пьет пью 不 吃 喝 能 别 放 要",
    )
)
"""Words that two tastes share by chance."""
SMALLEST = frozenset({"the", "a", "an", "to", "of", "is", "не", "в", "на"})
RELATIVE_OF = re.compile(
    r"(?P<whose>.+?)(?:['’]s .+|(?:妈妈?|爸爸?|老公|老婆|太太|媳妇|爱人|老伴|那口子)|"
    r"(?:儿子|女儿|老[大二三]|弟弟|妹妹|哥哥|姐姐|孙[子女]))"
)
"""Whom a label names as somebody's relative."""
KIN = tuple((re.compile(words), one) for one, words in SAME_KIN.items())
TASTES = tuple((re.compile(words), one) for one, words in SAME_TASTE.items())


def is_labelled(kind: str, who: str, value: str, labels: Iterable[FactLabel]) -> bool:
    """Whether one of the labels says that a value holds of somebody."""
    return any(
        kind == TYPES.get(one.type, one.type)
        and not one.is_ended
        and is_who(who, one.who)
        and is_value(kind, value, one.value)
        for one in labels
    )


def is_who(one: str, other: str) -> bool:
    """Whether somebody found is the one of a label; "Theo's sister" is not Theo. Labels may have two names, ``a|b``."""
    if "|" in other:
        return any(is_who(one, name) for name in other.split("|"))
    one, other = (comparable(name).replace("\u0308", "") for name in (one, other))
    if one != other and (of := RELATIVE_OF.fullmatch(other)) is not None and one in of["whose"]:
        return False
    return bool(set(one.split()) & set(other.split())) or one in other or other in one


def is_value(kind: str, found: str, label: str) -> bool:
    """Whether a value is the labelled one: the same digits and letters; of words at least half of the label's stems."""
    if kind == "birthday":
        return found[-5:] == label[-5:] and (len(found) < 10 or len(label) < 10 or found == label)
    if kind == "preference" and bool(AGAINST.search(found)) != bool(AGAINST.search(label)):
        return False
    if kind in FREE:
        mine, theirs = _stems(found, kind), _stems(label, kind)
        shared = sum(any(_is_form(one, other) for other in theirs) for one in mine)
        return shared > 0 and shared >= SHARED * min(len(mine), len(theirs))
    if kind == "phone":  # without its code a number is of a country that nobody said
        one, other = re.sub(r"\D", "", found).lstrip("0"), re.sub(r"\D", "", label)
        return bool(one) and (other.endswith(one) or one.endswith(other.lstrip("0")))
    plain = [re.sub(r"[\W_]", "", one).casefold() for one in (found, label)]
    return plain[0] in plain[1] or plain[1] in plain[0]


def _is_form(one: str, other: str) -> bool:
    """Whether two stems are of one word; a Russian verb changes its last consonant ("развожусь", "разводится")."""
    begins = one[:SAME_BEGINNING] == other[:SAME_BEGINNING]
    return one == other or (begins and is_cyrillic(one) and min(len(one), len(other)) >= SAME_BEGINNING)


def _stems(text: str, kind: str) -> set[str]:
    text = "".join(one for one in normalize("NFKD", text.casefold()) if not combining(one))
    for words, one in {"family": KIN, "preference": TASTES}.get(kind, ()):
        text = words.sub(one, text)
    words = re.findall(r"[\u4e00-\u9fff]|[^\W_]+", text)
    small = SMALL if kind == "preference" else SMALLEST
    told = [word for word in words if word not in small]
    return {word if is_han(word) else stem(word, language_of(word, "en")) for word in told}
