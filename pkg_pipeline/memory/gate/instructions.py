"""Recognising text that gives orders to the model that reads it (B15), in Russian, English, Chinese and a little more.

A list of patterns is no proof against injection, and none is promised: it is one of the gate's nets, beside the quotes,
the numbers and the names. It errs on the side of flagging, since what is flagged is only not *rested upon*.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from pkg_pipeline.memory.gate import foreign_orders as gate_orders_abroad
from pkg_pipeline.memory.gate.normalise import plain
from pkg_pipeline.memory.records import SourceMessage

SPLIT_OVER_MESSAGES = 3
"""An order may be spread over this many messages in a row."""

_READER_EN = r"(?:ai|a\.i\.|llm|language model|(?:ai )?assistant|chat ?bot|summari[sz]er|gpt)"
_OUTPUT_EN = r"(?:summary|summari[sz]ation|key[ _]?points?|json|output|your (?:answer|reply|response|memory|output))"
_READER_RU = r"(?:ии|ассистент\w*|нейросет\w+|чат-?бот\w*|суммаризатор\w*|языков\w+ модел\w+)"
_OUTPUT_RU = (
    r"(?:саммари|сводк\w*|пересказ\w*|summary|key_points|json|сво[йею]\w* (?:ответ|памят)\w*"
    r"|ключев\w+ (?:пункт|тезис)\w*)"
)
_VERB_EN = r"(?:add|insert|include|append|put|write|output|print|return|place|set|state|say|note|record|mark|replace)"
_VERB_RU = r"(?:добавь|вставь|включи|напиши|пиши|выведи|верни|укажи|помести|впиши|отметь|замени|скажи)\w*"

STRONG = (
    # English
    r"\b(?:ignore|disregard|forget|override|bypass|discard)\b.{0,40}\b(?:instructions?|prompts?|guidelines|commands?"
    r"|said (?:before|above)|everything (?:above|before)|the above|previous (?:rules|messages|text))\b",
    r"\b(?:system|developer)[ _-](?:prompt|instructions?|override)\b|\b(?:system|developer|admin)[ _-](?:message|note"
    r"|notice) ?[:\])]|\badmin(?:istrator)? override\b",
    r"\byou are (?:now |no longer )(?:dan\b|in \w+ mode|an? (?:ai|assistant|unrestricted|evil)|unrestricted|bound by)",
    rf"(?:^|[.!?] )(?:dear |attention,? |hey |hello |hi |note (?:to|for) (?:the |any |all )?)?{_READER_EN}"
    r"(?: model| reader)? ?[:—]",
    rf"\b(?:note|message|instructions?|request) (?:to|for) (?:the |any |all )?{_READER_EN}\b",
    rf"\b(?:any|every|all|the) {_READER_EN}s? (?:that |who |which )?(?:is |are )?(?:reading|reads?|process\w*"
    r"|summari\w*|must|has to)\b",
    rf"\bif you(?:'re| are) an? {_READER_EN}\b",
    rf"\b{_VERB_EN}\b.{{0,12}}\b(?:in|to|into|at|as) (?:the end of )?(?:the |your |this |every |each )?{_OUTPUT_EN}\b",
    rf"\b{_OUTPUT_EN}\b.{{0,20}}\b(?:must|has to|shall|should only) (?:be|say|contain|include|read|start|end|only)\b",
    r"\b(?:repeat|print|reveal|leak|output)\b.{0,30}\b(?:your (?:system )?prompt|your instructions|api keys?)\b",
    r"\b(?:remember|store|save|memori[sz]e|keep|record)\b.{0,60}\b(?:in|into|to) (?:your |long-term |the )memory\b",
    # Russian
    r"(?:игнорир|забуд|не обращай\w* внимани|отмени|отбрось|обойди).{0,40}(?:инструкци|промпт|всё выше|все выше"
    r"|вышесказанн|предыдущ\w+ (?:указани|правил|команд|сообщени|текст))",
    r"системн\w+ (?:промпт|инструкц)|системн\w+ сообщени\w+ ?[:\])]",
    r"\b(?:ты|вы) (?:теперь|больше не) .{0,25}(?:ассистент|модел|ии\b|бот\b|ограничен|dan\b|режим)",
    rf"(?:^|[.!?] )(?:уважаем\w+ |внимание,? |эй,? |привет,? |для )?{_READER_RU} ?[:—]",
    rf"\bесли ты (?:{_READER_RU}|модель|бот)\b|\b(?:инструкци|указани|сообщени)\w+ для (?:{_READER_RU}|модели|бота)",
    rf"\b{_VERB_RU}.{{0,12}} (?:в|во|как) (?:эт\w+ |кратк\w+ )?{_OUTPUT_RU}",
    rf"{_OUTPUT_RU} (?:должн|обязан)",
    r"(?:повтори|покажи|раскрой|выведи).{0,30}(?:промпт|свои инструкции|ключ api)",
    r"(?:запомни|сохрани|запиши|занеси).{0,60}в (?:свою |долгосрочную |постоянную )памят",
    # Chinese
    r"(?:忽略|无视|忘记|忘掉|不要理会|推翻).{0,15}(?:指令|指示|提示词|规则|以上|上述|之前的(?:内容|消息|要求))",
    r"系统(?:提示|指令)|系统(?:消息|通知)[：:】\]]|开发者(?:消息|指令)",
    r"你现在(?:是一个|不再|进入)",
    r"(?:^|[。！？] ?)(?:致|给|亲爱的)?(?:助手|ai助手|ai|机器人|人工智能|大模型|语言模型)[：:]",
    r"如果你是(?:一个)?(?:ai|人工智能|模型|助手|语言模型|机器人)",
    r"(?:在|到|进|入)(?:你的)?(?:摘要|总结|要点|输出|json)(?:里|中)?.{0,6}(?:写|加|添加|输出|包含|填|注明|[：:])",
    r"(?:写|加|添加|放|填)(?:到|进|入)(?:你的)?(?:摘要|总结|要点|输出)",
    r"(?:摘要|总结|输出)(?:中|里)?(?:必须|只能)",
    r"写入.{0,6}记忆|(?:显示|泄露|输出|重复).{0,10}(?:提示词|系统提示|密钥)",
    # Spanish, German, French; markup of prompts; the form of the answer itself
    r"\b(?:ignor\w+|olvid\w+|omit\w+)\b.{0,40}\b(?:instrucciones|indicaciones)\b",
    r"\b(?:ignorier\w*|vergiss|vergessen sie|missacht\w*)\b.{0,40}\b(?:anweisung\w*|befehle|vorgaben)\b",
    r"\b(?:ignor\w+|oubli\w+)\b.{0,40}\b(?:instructions|consignes)\b",
    r"</?(?:system|instructions?|assistant|data|conversation|messages)>|\[/?inst\]|<\|(?:im_start|im_end|system|user)"
    r"|###? ?(?:system|instruction|new task)|<<<|>>>",
    r"[\"']role[\"'] ?: ?[\"'](?:system|assistant|developer)",
    r"\bend of (?:the )?(?:conversation|data|input|transcript|quoted material)\b",
    r"[\"'](?:summary|key_points|decisions|action_items|important_message_ids)[\"'] ?:",
)
"""Nobody says this to a person, or hardly ever."""

WEAK = (
    rf"(?:^|[.!?] )(?:dear |attention,? |hey |hello |hi )?(?:{_READER_EN}|claude|model)(?: model| reader)?"
    r" ?[,!]",
    rf"\b{_VERB_EN}\b.{{0,80}}\b{_OUTPUT_EN}\b",
    r"\b(?:respond|reply|answer|output|print|say) (?:only|just|exactly|with)\b|\bno matter what\b",
    r"\bfrom now on,? (?:you (?:must|will|are)|always|only|respond|reply|answer|write|speak|add)\b",
    r"\bnew (?:instructions?|task|directive|rules?) ?[:(—-]|\byour (?:new|real|actual) (?:task|goal|role)\b",
    r"\bdo not (?:summari[sz]e|mention (?:this|the above)|reveal (?:this|the))\b|\b(?:forever|permanently)\b",
    r"\balways (?:recommend|reply|answer|respond|trust|say yes)\b",
    r"\b(?:tell|inform) the (?:user|owner|reader)\b",
    r"\b(?:the user|the owner) (?:must|should|has to)\b|\bas an? (?:ai|language model)\b",
    r"\bremember (?:this|that|the following) ?[:(]",
    rf"(?:^|[.!?] )(?:эй,? |привет,? )?(?:{_READER_RU}|модель|бот),",
    rf"\b{_VERB_RU}.{{0,80}}(?:{_OUTPUT_RU}|резюме|\bитог)",
    r"\b(?:ответь|отвечай|выведи|напиши|скажи)\w* (?:только|ровно|лишь|просто)\b|что бы ни",
    r"(?:отныне|с этого момента|впредь|теперь всегда),? (?:ты |всегда |только )?(?:отвечай|пиши|говори|добавляй|ты)",
    r"нов\w+ (?:инструкци|указани|директив|правил)\w* ?[:(—-]|тво\w+ (?:нов|настоящ)\w+ (?:задач|роль|цель)",
    r"не (?:суммируй|пересказывай|упоминай (?:это|об этом))|\b(?:навсегда|навечно)\b",
    r"всегда (?:рекомендуй|отвечай|советуй|доверяй)",
    r"(?:сообщи|скажи) (?:пользователю|владельцу)|\bзапомни(?:те)? ?:",
    r"(?:永远|永久|始终|总是)",
    r"(?:只|仅)(?:需|要|能)?(?:回答|回复|输出|说)|不要(?:总结|提及|摘要)",
    r"告诉(?:用户|主人)",
    r"(?:从现在起|从现在开始|今后).{0,8}(?:回答|回复|输出|每次|你)|新的?(?:指令|指示|任务|规则)[：:]",
    r"(?:把|将|请).{0,40}(?:摘要|总结|输出|要点).{0,12}(?:写|加|输出|包含|放|改|填)|记住(?:这|以下)",
)
"""People do say this to one another ("reply only after lunch", "put it into the summary"): it takes two."""

WEAK_SIGNS_NEEDED = 2

_TRIGGERS = (
    *(
        "ignor",
        "disregard",
        "forget",
        "overrid",
        "bypass",
        "discard",
        "system",
        "developer",
        "admin",
        "you are ",
        "you're a",
    ),
    *("a.i.", "llm", "language model", "assistant", "chatbot", "chat bot", "summar", "gpt", "claude", "model"),
    *(
        "key point",
        "keypoint",
        "key_point",
        "json",
        "output",
        "your answer",
        "your reply",
        "your response",
        "your memory",
    ),
    *(
        "your prompt",
        "instruction",
        "api key",
        "memory",
        "respond",
        "reply",
        "answer",
        "print",
        "say ",
        "no matter what",
    ),
    *("from now on", "new task", "new directive", "new rule", "your new", "your real", "your actual", "do not mention"),
    *("do not reveal", "forever", "permanently", "always ", "the user", "the owner", "the reader", "remember "),
    *(
        "игнорир",
        "забуд",
        "не обращай",
        "отмени",
        "отбрось",
        "обойди",
        "системн",
        "ты теперь",
        "вы теперь",
        "больше не ",
    ),
    *("ассистент", "нейросет", "чат", "суммаризатор", "модел", "если ты ", "бот,", "для бота", "саммари", "сводк"),
    *("пересказ", "ответ", "ключев", "повтори", "покажи", "раскрой", "выведи", "памят", "резюме", "итог", "отвечай"),
    *("напиши", "скажи", "что бы ни", "отныне", "с этого момента", "впредь", "теперь всегда", "инструкци", "указани"),
    *("директив", "правил", "тво", "не упоминай", "навсегда", "навечно", "всегда ", "сообщи", "запомни", "не суммируй"),
    *(
        "忽略",
        "无视",
        "忘记",
        "忘掉",
        "不要",
        "推翻",
        "系统",
        "开发者",
        "你现在",
        "助手",
        "机器人",
        "人工智能",
        "模型",
        "摘要",
        "总结",
    ),
    *(
        "要点",
        "输出",
        "记忆",
        "显示",
        "泄露",
        "重复",
        "永远",
        "永久",
        "始终",
        "总是",
        "回答",
        "回复",
        "只",
        "仅",
        "告诉",
        "从现在",
    ),
    *("今后", "新的", "新指", "新任", "新规", "记住"),
    *(
        "olvid",
        "omit",
        "vergiss",
        "vergessen",
        "missacht",
        "oubli",
        "<",
        "###",
        "## ",
        "[inst]",
        "[/inst]",
        ">>>",
        "role",
    ),
    *("end of ", "decisions", "action_items", "important_message_ids"),
    *sorted(gate_orders_abroad.TRIGGERS),
)
"""One of these stands in whatever a pattern below finds; looking for them first is far faster than the patterns."""

_READER_ALONE = re.compile(r"(?<![a-z])(?:ais?|ia|ki|bot)(?![a-z])|\bии\b")
"""The triggers that stand inside too many other words."""

_STRONG_SIGNS = tuple(re.compile(pattern) for pattern in (*STRONG, *gate_orders_abroad.STRONG))
_WEAK_SIGNS = tuple(re.compile(pattern) for pattern in (*WEAK, *gate_orders_abroad.WEAK))


def gives_orders(text: str) -> bool:
    """Whether the text speaks to the model that reads it rather than to a person."""
    return _gives_orders(plain(text))


@lru_cache(maxsize=4096)
def _gives_orders(looked_at: str) -> bool:
    if not may_give_orders(looked_at):
        return False
    if any(pattern.search(looked_at) for pattern in _STRONG_SIGNS):
        return True
    return sum(len(set(pattern.findall(looked_at))) for pattern in _WEAK_SIGNS) >= WEAK_SIGNS_NEEDED


def may_give_orders(looked_at: str) -> bool:
    """Whether any pattern can find anything in this plain text; most texts hold none of the words."""
    return any(trigger in looked_at for trigger in _TRIGGERS) or _READER_ALONE.search(looked_at) is not None


def ordering_numbers(messages: Sequence[SourceMessage]) -> frozenset[int]:
    """The numbers of the messages that give orders, alone or joined with the next ones of the same sender.

    What the same sender says right after an order that was split, or that ends in a colon, belongs to it.
    """
    alone = {message.number for message in messages if gives_orders(message.text)}
    split: set[int] = set()
    for size in range(2, SPLIT_OVER_MESSAGES + 1):
        for start in range(len(messages) - size + 1):
            run = messages[start : start + size]
            numbers = {message.number for message in run}
            is_new = _of_one_sender(run) and not numbers & (alone | split)
            if is_new and gives_orders(" ".join(message.text for message in run)):
                split |= numbers
    goes_on = {
        message.number for message in messages if message.number in alone and message.text.rstrip()[-1:] in ":："
    }
    following = {
        after.number
        for before, after in pairwise(messages)
        if before.number in split | goes_on and _of_one_sender((before, after))
    }
    return frozenset(alone | split | following)


def _of_one_sender(messages: Sequence[SourceMessage]) -> bool:
    return len({message.sender.entity_id for message in messages}) == 1
