"""Words that are no subject of a talk, and how forms of one word meet: for ``topics.py``. Words and endings only.

Stems here are longer than those of the gate (``gate_text.stems`` compares four letters, so that "contract" meets
"contain"): a gate may err towards likeness, a list of topics may not.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

SHORTEST_STEM: Final = 3
SHORTEST_ALIKE: Final = 5
"""A word in small letters has to be this long to be a name written in another script."""

_ENGLISH = """
a about above after again all also am an and any are as at be because been before being below between both but by can
cannot could did do does doing done down during each few for from further had has have having he her here hers him his
how i if in into is it its just let me more most my no nor not now of off on once only or other our out over own per
same she should so some such than that the their them then there these they this those through to too under until up
very was we were what when where which while who whom why will with within without would yes you your about regarding
agree agreed agrees agreeing ask asked asks asking decide decided decides confirm confirmed confirms discuss discussed
discusses discussing talk talked talks talking plan planned plans planning promise promised promises send sent sends
want wants wanted need needs needed get gets got make makes made take takes took give gives gave go goes went come came
pay pays paid sign signs signed meet meets met say says said tell told think thought know knows move moved moves moving
start started starts finish finished next last new first today tomorrow yesterday soon later still already both two
three one several some many much also mentioned mentions share shared shares update updated january february march
april may june july august september october november december monday tuesday wednesday thursday friday saturday sunday
"""
_RUSSIAN = """
а без более бы был была были было в вам вас весь во вот все всего всех вы где да для до его ее если есть еще же за
здесь и из или им их к как какая какие какой когда кто ли либо между мне можно мой моя мы на над надо нам нас наш наша
не него нее нет ни них но ну о об обо один одна однако он она они оно от по под после потом потому при про с сам свой
своя свои себя со так также такой там тебе то того тоже только том ты у уже хотя чего чем что чтобы эта эти это этого
этой этом этот эту я будет будут быть может нужно нужен нужна очень про около через среди между ради
договорились договорился договорилась обсудили обсудил обсудила обсуждали обсуждение обсуждают решили решил решила
решено согласны согласен согласна согласие подтвердил подтвердила подтвердили попросил попросила просит спросил
спросила сказал сказала хочет хотят планирует планируют отправит отправил отправила пришлет прислал прислала сделает
сделал сделала подготовит подготовил перенесли перенес перенесла новый новая новое новые нового новой первый первая
последний последняя следующий следующая сегодня завтра вчера скоро позже оба обе два две три несколько много стороны
января февраля марта апреля мая июня июля августа сентября октября ноября декабря понедельник вторник среду среда
четверг пятницу пятница субботу суббота воскресенье оплатит оплатил оплатила готов готова готовы
"""
STOPWORDS: Final = frozenset(f"{_ENGLISH} {_RUSSIAN}".split())

_HAN_BREAK = re.compile(
    r"双方|我们|你们|他们|她们|大家|咱们|讨论|商量|商定|谈到|谈了|决定|同意|确认|约定|说好|希望|需要|计划|打算|准备|已经|可以|应该|之前|之后|以后"
    r"|以及|关于|对于|因为|所以|但是|如果|这个|那个|一个|两个|今天|明天|昨天|下周|上周|本周|负责|提醒|介绍|邀请|答应|告诉|两人|周[一二三四五六日天]|星期.|[上下]午|[一二三四五六七八九十\d]+[点月日号]"
    r"|[的了在是和与把被将到给对从向为于也都就还要能让请由及或且并其之说问想去来约改我你他她它这那]"
)
"""Between these stand the subjects of a Chinese sentence."""

FALSE_COGNATES: Final = frozenset(
    ("magazin", "fabrik", "inteligent", "famil", "aktual", "kabinet", "receipt", "resept")
)
"""Spelt alike in both scripts and not the same thing: магазин is no magazine."""

_VERB = re.compile(
    r"(?:ться|тся|лся|лась|лись|али|или|яли|ели|ала|ила|яла|ает|ают|ует|уют|яет|яют|ировать|овать|ит|ят|ет|ут|ют"
    r"|дим|тим|рим|ним|лим|вим)$"
)
_NOUNS_LIKE_VERBS = frozenset(
    (
        *("кредит", "лимит", "визит", "депозит", "аудит", "дефицит", "гранит", "магнит", "бюджет", "билет", "пакет"),
        *("ответ", "отчет", "расчет", "совет", "кабинет", "интернет", "предмет", "макет", "банкет", "буклет", "паркет"),
        *("портрет", "авторитет", "факультет", "комитет", "институт", "маршрут", "атрибут", "салют", "минут", "грамм"),
        *("валют", "мебели", "неделя", "недели", "модели", "цели", "школа", "сила", "могила", "акула"),
    )
)
"""A talk is named by its nouns. Most Russian words with such endings are verbs; these are not."""

_RU_ENDINGS = re.compile(
    r"(?:иями|ями|ами|иях|иям|ием|ией|ого|его|ому|ему|ыми|ими|ях|ах|ов|ев|ей|ой|ий|ый|ая|яя|ое|ее|ые|ие|ых|их|ую|юю"
    r"|ом|ем|ам|ям|ию|ия|ии|ью|ья|а|я|о|е|и|ы|у|ю|ь|й)$"
)
_FLEETING = re.compile(r"([бвгджзйклмнпрстфхцчшщ])[оё]к$")
_NO_PLURAL = frozenset(("news", "lens", "bus", "gas", "plus", "series", "species", "canvas", "atlas"))
_SIMPLE = str.maketrans(
    {
        **dict(zip("абвгдезийклмнопрстуфыэхцъь", [*"abvgdeziiklmnoprstufiehc", "", ""], strict=True)),
        **dict(zip("жчшщюя", ("zh", "ch", "sh", "sch", "iu", "ia"), strict=True)),
    }
)
_ALIKE = (
    *(("kh", "h"), ("ck", "k"), ("ph", "f"), ("x", "ks"), ("qu", "kv"), ("q", "k"), ("w", "v"), ("y", "i"), ("j", "i")),
    *(("ch", "\0"), ("c", "k"), ("\0", "ch"), ("ii", "i")),
)


def is_cyrillic(word: str) -> bool:
    """Whether a word is written in Cyrillic letters."""
    return "\u0400" <= word[0] <= "\u052f"


def is_han(word: str) -> bool:
    """Whether a word is written in Chinese characters."""
    return "\u3400" <= word[0] <= "\u9fff"


def han_breaks(text: str, excluded: frozenset[str]) -> list[tuple[int, int]]:
    """Where a Chinese run is cut: words that name nothing, and the names of those who took part."""
    found = [match.span() for match in _HAN_BREAK.finditer(text)]
    for name in excluded:
        at = text.find(name) if is_han(name) else -1
        while at >= 0:
            found.append((at, at + len(name)))
            at = text.find(name, at + 1)
    return sorted(found)


def is_verb(word: str) -> bool:
    """Whether a case-folded Russian word has a verb's ending that few nouns have."""
    return len(word) > SHORTEST_ALIKE and word not in _NOUNS_LIKE_VERBS and _VERB.search(word) is not None


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """What the forms of a case-folded word (``е`` for ``ё``) have in common. Other scripts have one form."""
    if is_cyrillic(word):
        return _russian(word)
    return _english(word) if word.isascii() else word


def _russian(word: str) -> str:
    bare = _RU_ENDINGS.sub("", word) if len(word) > SHORTEST_STEM else word
    found = bare if len(bare) >= SHORTEST_STEM else word
    return _FLEETING.sub(r"\1к", found) if len(found) > SHORTEST_ALIKE else found


def _english(word: str) -> str:
    found = word.removesuffix("'s")
    if found in _NO_PLURAL or not found.isalpha():
        return found
    if found.endswith("ies") and len(found) > 4:
        found = found[:-3] + "y"
    elif re.search(r"(?:ss|x|z|ch|sh)es$", found):
        found = found[:-2]
    elif found.endswith("s") and not found.endswith(("ss", "us", "is")) and len(found) > SHORTEST_STEM:
        found = found[:-1]
    if found.endswith("ing") and len(found) >= 7:
        found = _undoubled(found[:-3])
    elif found.endswith("ed") and not found.endswith("eed") and len(found) >= 6:
        found = _undoubled(found[:-2])
    if len(found) > SHORTEST_STEM:
        found = found[:-1] + "i" if found.endswith("y") else found.removesuffix("e")
    return found


def _undoubled(word: str) -> str:
    return word[:-1] if word[-1] == word[-2] and word[-1] not in "aeiouls" else word


@lru_cache(maxsize=65_536)
def skeleton(word: str) -> str:
    """A case-folded name in one spelling for both scripts: докер and Docker, Юлия and Yulia."""
    plain = word.translate(_SIMPLE)
    for written, shown in _ALIKE:
        plain = plain.replace(written, shown)
    return re.sub(r"(.)\1", r"\1", plain)
