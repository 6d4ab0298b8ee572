"""A plain word about a thing, or another deed to it, closes nothing; its deed, its place or an answer does."""

from __future__ import annotations

import pytest

from pkg_pipeline_tests.memory.gate.closings import became

ITEMS = {
    "en7": ("them", "Sam returns the ladder", "ladder back by saturday"),
    "en8": ("self", "I renew the car insurance", "insurance is on me"),
    "ru7": ("them", "Семён вернёт стремянку", "стремянку верну к субботе"),
    "ru8": ("self", "Я продлю страховку на машину", "страховка за мной"),
    "zh7": ("them", "孙培还梯子", "梯子我周六前还"),
    "zh8": ("self", "我续车险", "保险我来续"),
}
SAID = """
en7 open > did you take the ladder back yet? | < ladder's in the van at least
en7 open < ladder is next on the list
en7 open < took the ladder to the shop but they'd shut
en7 open < brought the paint back, the ladder stays another week
en7 open > ladder? | < forgot, sorry
en7 open < your brother has borrowed the ladder off me now
en7 open > thanks for the ladder, you're a hero. when do I get it back?
en7 done < ladder is leaning on your shed
en7 done > ladder's back, cheers
en7 done < dropped the ladder off with your dad
en7 open < I returned the drill and the saw
en7 open < can I keep the ladder till sunday
en7 open < cleaned the ladder for you
en7 open > you still have my ladder | < true
en7 renewed < ladder comes sunday instead
en7 open < someone nicked the ladder
en8 open > filled in the insurance form, signature is missing
en8 open > insurance wants a photo of the car first
en8 done < insurance? | > renewed, 312 a year
en8 open < insurance? | > 312 a year they want!
en8 open > compared three insurance quotes
en8 open > I renewed my passport today
en8 open > insurance lapsed, damn
en8 open < did you renew it? | > which one
en8 open < did you renew the insurance? | > was on hold for an hour
en8 done < did you renew the insurance? | > did it on the train
en8 renewed < did you renew the insurance? | > tonight, swear
en8 open < mine is renewed, you?
ru7 open > стремянку отвёз? | < хотя бы в машину погрузил
ru7 open < стремянка следующая на очереди
ru7 open < повёз стремянку, а там закрыто
ru7 open < краску вернул, а стремянка ещё неделю побудет
ru7 open > стремянка? | < забыл, прости
ru7 open < твой брат у меня её одолжил
ru7 open < померил стремянку, в машину не влезет
ru7 open > спасибо за стремянку, выручил. когда вернёшь?
ru7 done < стремянка стоит у твоего сарая
ru7 done > стремянку забрал, спс
ru7 done < стремянку завёз твоему отцу
ru7 open < вернул дрель и пилу
ru7 open < можно стремянка до воскресенья у меня побудет?
ru7 open < помыл тебе стремянку
ru7 open > стремянка-то всё ещё у тебя | < ага
ru7 renewed < стремянку лучше в воскресенье
ru7 open < стремянку кто-то спёр
ru8 open > анкету для страховки заполнил, подписи не хватает
ru8 open > по страховке сначала фото машины просят
ru8 open < страховка? | > 31 тысячу хотят!
ru8 open > сравнил три страховки
ru8 open > паспорт сегодня поменял
ru8 open > страховка кончилась, блин
ru8 cancelled > машину продал, страховка не нужна
ru8 open < страховку продлил? | > час провисел на линии
ru8 done < страховку продлил? | > ага, в поезде сделал
ru8 renewed < страховку продлил? | > сегодня вечером, клянусь
ru8 open < я свою продлил, а ты?
zh7 open > 梯子还了没 | < 至少装车上了
zh7 open < 下一个就还梯子
zh7 open < 梯子送过去了，结果店关门了
zh7 open < 油漆还了，梯子再放一周
zh7 open > 梯子呢？ | < 忘了，不好意思
zh7 open < 梯子又被你哥借走了
zh7 open < 梯子量过了，我车装不下
zh7 open > 谢谢你的梯子，什么时候还我？
zh7 done < 梯子靠你家棚子边上了
zh7 done > 梯子拿回来了，谢啦
zh7 done < 梯子交给你爸了
zh7 open < 电钻和锯子还了
zh7 open < 梯子能不能放到周日
zh7 open > 梯子还在你那 | < 对
zh7 renewed < 梯子改周日送
zh7 open < 梯子被偷了
zh8 open > 保险的表填了，还差签名
zh8 open > 保险公司要先拍车的照片
zh8 done < 保险呢？ | > 续好了，一年3120
zh8 open < 保险呢？ | > 一年要3120！
zh8 open > 比了三家保险
zh8 open > 护照今天换了
zh8 open > 保险过期了，糟
zh8 cancelled > 车卖了，保险不用续了
zh8 open < 保险续了吗？ | > 电话占线一个小时
zh8 done < 保险续了吗？ | > 火车上弄好了
zh8 renewed < 保险续了吗？ | > 今晚，一定
zh8 open < 我的续了，你呢？
"""
"""Written before the rules were made with them in view; item, what became of it, and the messages as of ``became``."""


@pytest.mark.parametrize("row", [row for row in SAID.splitlines() if row])
def test_an_item_is_closed_by_evidence_alone(row: str) -> None:
    right = row.split()[1]
    allowed = {right} if right in ("done", "cancelled") else {"renewed"}
    assert not {to for to in ("done", "cancelled", "renewed") if to not in allowed and became(ITEMS, row, to)}
    assert right == "open" or became(ITEMS, row, right)
