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
    "en21": ("self", "I pay the electricity bill", "I'll pay the electricity bill"),
    "en22": ("them", "Sam paints the fence", "fence gets painted by me"),
    "en23": ("them", "Sam returns the drill", "drill back to you friday"),
    "ru21": ("self", "Я оплачу счёт за свет", "счёт за свет оплачу"),
    "ru22": ("them", "Семён покрасит забор", "забор покрашу"),
    "ru23": ("them", "Семён вернёт дрель", "дрель верну в пятницу"),
    "zh21": ("self", "我交电费", "电费我来交"),
    "zh22": ("them", "孙培刷围栏", "围栏我来刷"),
    "zh23": ("them", "孙培还电钻", "电钻周五还你"),
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


NAMED = """
en21 open > tried to pay the electricity bill, the site was down
en21 open > paid last month's electricity bill twice by the way
en21 open > the electricity bill has to be paid by friday
en21 open > when I've paid the electricity bill I'll be broke
en21 open > my sister paid her electricity bill in cash lol
en21 open > they want the electricity bill paid online now
en21 open > I only paid half of the electricity bill
en21 open > I could swear I paid the electricity bill, but the app says no
en21 open > the electricity bill came, 88 this time
en21 open > the electricity bill is on my desk
en21 open < I paid the electricity bill for my mum
en21 done > electricity bill went through just now
en21 done > paid. electricity bill off the list
en22 open < bought the paint for the fence
en22 open < got two quotes for painting the fence
en22 open < painted the shed, the fence is next
en22 open < the fence needs to be painted twice apparently
en22 open > you never painted the fence
en22 open < fence half painted, ran out
en22 open < my neighbour painted his fence green
en22 open < painting the fence as we speak
en22 done < fence is green now
en22 done < fence painted, two coats
en22 done < second coat's on, fence looks like new
en23 open < used the drill again today, works like a charm
en23 open < the drill broke, sorry
en23 open < left the drill at my brother's
en23 open < put the drill in the car so I don't forget
en23 open > you left the drill here? no you didn't
en23 open < the drill is at my place still
en23 open < I gave the drill to Tom by mistake
en23 done < drill's in your garage
en23 done < gave the drill to your wife just now
ru21 open > пытался оплатить счёт за свет, сайт лежит
ru21 open > за прошлый месяц свет оплатил дважды
ru21 open > счёт за свет надо оплатить до пятницы
ru21 open > как оплачу счёт за свет, останусь без копейки
ru21 open > сестра свой счёт за свет наличкой оплатила
ru21 open > счёт за свет теперь только онлайн оплачивают
ru21 open > оплатил только половину счёта за свет
ru21 open > вроде оплатил счёт за свет, а в приложении пусто
ru21 open > счёт за свет лежит у меня на столе
ru21 open < я маме счёт за свет оплатил
ru21 done > оплатил. свет вычёркиваем
ru22 open < купил краску для забора
ru22 open < узнал, сколько берут за покраску забора
ru22 open < сарай покрасил, забор следующий
ru22 open < забор, говорят, надо красить дважды
ru22 open > ты так и не покрасил забор
ru22 open < сосед свой забор покрасил в зелёный
ru22 open < как раз крашу забор
ru22 done < забор теперь зелёный
ru22 done < забор покрашен в два слоя
ru23 open < дрель сегодня опять пригодилась, зверь
ru23 open < дрель сломалась, прости
ru23 open < оставил дрель у брата
ru23 open < положил дрель в машину, чтоб не забыть
ru23 open < дрель пока у меня
ru23 open < отдал дрель Толе по ошибке
ru23 done < дрель у тебя в гараже
ru23 done < дрель отдал твоей жене
zh21 open > 想交电费，网站打不开
zh21 open > 上个月的电费交了两遍
zh21 open > 电费周五前要交
zh21 open > 我妹用现金交了她的电费
zh21 open > 电费只交了一半
zh21 open > 我记得交过电费，可是系统说没有
zh21 open > 电费单来了，这次88
zh21 open > 电费单在我桌上
zh21 open < 我替我妈交了电费
zh21 done > 电费刚交上
zh22 open < 刷围栏的漆买了
zh22 open < 那电影里的围栏刷成红的了，咱也刷红的吧
zh22 open < 问了刷围栏多少钱
zh22 open < 棚子刷了，下一个是围栏
zh22 open < 听说围栏要刷两遍
zh22 open > 你围栏一直没刷
zh22 open < 围栏刷了一半，漆没了
zh22 open < 邻居把他家围栏刷成绿的了
zh22 open < 正在刷围栏
zh22 done < 围栏刷好了，两遍
zh23 open < 电钻坏了，抱歉
zh23 open < 电钻落我哥那了
zh23 open < 电钻放我车上了，免得忘
zh23 open < 电钻还在我这
zh23 open < 电钻误给了小童
zh23 done < 电钻在你车库
zh23 done < 电钻给你老婆了
"""
"""The deed and its thing are named, but as tried, owed, another's or of another time; nine more of its kind fail."""


@pytest.mark.parametrize("row", [row for row in (SAID + NAMED).splitlines() if row])
def test_an_item_is_closed_by_evidence_alone(row: str) -> None:
    right = row.split()[1]
    allowed = {right} if right in ("done", "cancelled") else {"renewed"}
    assert not {to for to in ("done", "cancelled", "renewed") if to not in allowed and became(ITEMS, row, to)}
    assert right == "open" or became(ITEMS, row, right)
