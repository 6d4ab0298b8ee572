"""Words that say nothing about what a text is about: neither indexed nor asked for. Data only.

Case-folded, ``е`` for ``ё``, without apostrophes. Not here: negations (not, не, нет, 不, 没) and words that are names
or things as well (will, may, us, том); what is merely frequent weighs little by itself.
"""

from __future__ import annotations

from typing import Final

_ENGLISH: Final = """
a an the and or but if of to in on at by for from with as into onto is are was were be been being am do does did done
has have had having i me my mine myself we our ours ourselves you your yours yourself he him his himself she her hers
herself it its itself they them their theirs themselves this that these those there here what which who whom whose
when where why how would shall should can could might must so than then too very just also about
"""

_RUSSIAN: Final = """
и а но да или же ли бы б ж то что чтобы чего чему чем как так в во на с со к ко у о об обо от до из изо за по под при
про для без над через я ты он она оно мы вы они меня тебя его ее нас вас их мне тебе ему ей нам вам им мной тобой нами
вами ими мой моя мое мои моего моей моих твой твоя твое твои наш наша наше наши ваш ваша ваше ваши свой своя свое свои
себя себе собой этот эта это эти этого этой этих этому этим тот та те того той тех кто кого кому кем который которая
которое которые которого которой которых где когда куда откуда почему зачем какой какая какое какие каких сколько был
была было были быть есть если уже еще вот ведь ну лишь только даже тоже также там тут здесь
"""

# Particles and pronouns, which stand alone only between other scripts and punctuation; then pairs of the same kind.
_CHINESE: Final = """
的 了 着 吗 呢 吧 啊 呀 嘛 哦 嗯 么 之 也 就 都 而 与 和 或 及 在 是 把 被 我 你 您 他 她 它 们 这 那 哪 谁
我们 你们 他们 她们 它们 咱们 什么 怎么 这个 那个 哪个 哪里 这里 那里 这些 那些 时候
"""

_ADDRESSES: Final = "http https www"

STOP_WORDS: Final = frozenset(f"{_ENGLISH} {_RUSSIAN} {_CHINESE} {_ADDRESSES}".split())
"""Whole words of any of the languages, and Chinese pairs."""
