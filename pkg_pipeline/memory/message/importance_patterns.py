r"""The one table of what makes a message important (P15): rule, weight, language, pattern, examples, false friends.

Here: every weight and every pattern, each row with examples that must and must not fire. Not here: how they are run
and added up (``importance.py``). A weight or a pattern anywhere else is a mistake.

How a pattern is written
* A row has alternatives, each a regular expression. They are tried where a word, a number or a symbol begins, so none
  of them needs a word boundary in front.
* The text is lower-cased, ``ё`` is ``е``, ``’`` is ``'`` and line ends and no-break spaces are spaces.
* An alternative begins with letters, a symbol or ``\d``, after look-behinds if any: its first characters, up to
  four, are what finds the places where it is tried.
* Nothing may match what it does not name: no ``.``, ``\S``, ``\W`` or ``[^…]``, no ``^`` and ``$``, no unbounded
  repetition. A test refuses them; it is why no match leaves its message and no text is slow.
Examples are separated by `` | `` or line ends. A row's positives fire by that row alone; its negatives fire by no row
of the rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pkg_pipeline.memory.message import importance_words as w
from pkg_pipeline.memory.message.importance_words import Row
from pkg_pipeline.memory.records import Language

DATE, AMOUNT, AGREEMENT, DEADLINE = "has_date", "has_amount", "has_agreement", "has_deadline"
LONG_MESSAGE, QUESTION = "long_message", "question"

WEIGHTS: Final = {DATE: 0.3, AMOUNT: 0.3, AGREEMENT: 0.4, DEADLINE: 0.3, LONG_MESSAGE: 0.2, QUESTION: 0.1}
"""P15, in the order in which a rule gives the reason; a question gives none."""
LONGER_THAN_CHARACTERS: Final = 300
QUESTION_LONGER_THAN_CHARACTERS: Final = 50
QUESTION_MARKS: Final = "?？"


TABLE: Final[Mapping[tuple[str, Language], Row]] = {
    (DATE, "ru"): Row(
        (
            rf"{w.NUM}\d{{1,2}}(?:-?го|-?ое)? {w.RU_MONTH}(?![а-я])",
            rf"{w.NUM}\d{{1,2}}(?:-?го)? числа{w.END}",
            rf"{w.NUM}(?<![a-z]\s)(?<!\bв\s)(?<!верси[яюи]\s)(?:0[1-9]|[12]\d|3[01])\.{w.MM}{w.DOTTED_REST}",
            *(rf"{word} {w.D}\.{w.MM}{w.DOTTED_REST}" for word in ("до", "на", "к", "от", "с", "со", "по")),
            r"завтра(?!\w)",
            r"послезавтра(?!\w)",
            *(rf"{word} {w.RU_THIS_OR_NEXT}?{w.RU_DAY_ACC}{w.END}" for word in ("в", "во")),
            r"на (?:следующей|той|этой) неделе",
            r"в следующем (?:месяце|году|квартале)",
            r"через (?:неделю|месяц|(?:\d{1,2}|два|две|три|четыре|пять) (?:дня|дней|недел[иь]|месяц(?:а|ев)))(?!\w)",
        ),
        """встреча 15 марта | 5 мая не работаем | созвон 15.03 в офисе | прилетаю 01.09.2025 | давай завтра
        завтра, часов в пять | послезавтра утром | увидимся в понедельник | в пятницу сдаём | во вторник не могу
        В СРЕДУ в 10 | на следующей неделе | через две недели | 15-го числа зарплата | оплата до 5.04
        в следующую среду | в пт вечером | 8-го марта | ёлку ставим 25 дек""",
        """понедельник — день тяжёлый | обновили python 3.11 | версия 1.2.3 | поставь v2.10 | сервер 192.168.10.12
        рост 12.10% | счёт 3:2 | пробежал 10.05 км | позвони 8 916 123-45-67 | в 18.05 начнём | завтрак готов
        по понедельникам бассейн | оценка 3/5 | вышла версия 10.11 | май выдался холодный | 10.12.0.1 не пингуется
        стоит 12.10 евро | 15 марток""",
    ),
    (DATE, "en"): Row(
        (
            rf"{w.NUM}(?:19|20)\d\d[-/](?:0?[1-9]|1[0-2])[-/]{w.D}(?!\d)",
            rf"{w.NUM}{w.M}/{w.D}/{w.YEAR}(?![\d/])",
            rf"{w.NUM}{w.D}/{w.M}/{w.YEAR}(?![\d/])",
            rf"{w.NUM}{w.M}/(?:1[3-9]|2\d|3[01]){w.EN_NOT_A_SHARE}",
            rf"{w.NUM}(?!24/7)(?:1[3-9]|2\d|3[01])/{w.M}{w.EN_NOT_A_SHARE}",
            *(
                rf"{word} (?:{w.M}/{w.D}|{w.D}/{w.M}){w.EN_NOT_A_SHARE}"
                for word in ("on", "by", "before", "until", "due")
            ),
            *(rf"{month}\.? (?:{w.NTH}|{w.D}){w.EN_NOT_A_DAY}" for month in ("may", *w.EN_MONTHS_BUT_MAY)),
            rf"{w.NUM}(?:{w.NTH}|{w.D}) (?:of )?{w.EN_MONTH_BUT_MAY}(?!\w)",
            rf"{w.NUM}(?:{w.NTH}|{w.D}) (?:of )?may(?!\w)(?! (?!(?:at|in|on|for|is|and|or|to|with|works)\b)[a-z])",
            rf"on (?:the )?{w.NTH}{w.EN_NOT_DAYS}",
            rf"on (?:this |next )?{w.EN_DAY}{w.END}",
            rf"next (?:week|month|quarter|year|{w.EN_WEEKDAY})(?!\w)",
            rf"this (?:coming )?{w.EN_WEEKDAY}(?!\w)",
            r"tomorrow(?!\w)",
            r"tmrw(?!\w)",
        ),
        """see you on Monday | let's meet March 5 | the launch is on the 5th | March 15th works | 15 March at noon
        3rd of June | tomorrow at 10 | 2025-03-15 | 03/15/2025 | the review is 3/15 | next week is fine
        next Friday | 5 May at noon | it starts May 5, 2025 | this Thursday | on Fri | Sept. 9th | on 3/4 we fly
        the day after tomorrow | April 1st is no joke""",
        """I may come | we march 10 miles | may I ask | version 1.2.3 | python 3.11 | release v2.10 | scored 3/5
        open 24/7 | host 10.0.12.5 | call 555-12-34 | at 10:30 | 1/2 cup of milk | Monday mornings are hard
        march on, soldiers | on the 5th floor | only 5 may enter | 10/10 would recommend | the order of 5 marches
        decide between 2 and 3""",
    ),
    (DATE, "zh"): Row(
        (
            r"(?<!\d)\d{1,2}\s?月\s?\d{1,2}\s?[日号]?(?!\d)",
            r"(?<!\d)\d{4}\s?年\s?\d{1,2}\s?月",
            r"(?<![\d.:])\d{1,2}月(?:份|底|初|中旬)",
            r"(?<![\d.:第])(?:[1-9]|[12]\d|3[01])[号日](?![线楼门房机店馆码院位桌公出])",
            *(rf"{digit}{w.ZH_NUM}{{0,2}}月{w.ZH_NUM}{{1,3}}[日号]" for digit in "一二三四五六七八九十"),
            r"明[天晚早](?![天])",
            r"(?<!先天)后天(?![性努培因养])",
            r"下个?(?:周|星期|礼拜|月)(?!刊)",
            *(rf"(?<![上每]){week}{w.ZH_DAY}(?![一二三四五六七八九十岁年报刊])(?!{w.ZH_BEFORE})" for week in w.ZH_WEEK),
        ),
        """3月15日开会 | 我们3月15号见 | 明天见 | 下周三再说 | 周五见 | 2025年3月交付 | 三月十五号出发 | 后天上午
        15号发工资 | 下个月搬家 | 星期一早上 | 礼拜天吃饭 | 3 月 15 日 上午 | 3月底交 | 明晚八点 | 咱们下星期再聊
        十二月三日 | 定在5月8日""",
        """3个月了 | 版本1.2.3 | 坐2号线 | 比分3:2 | 第3页 | 每周五加班 | 上周三去了 | python 3.11 | 今天天气不错
        住5号楼 | 后天培养的习惯 | 说明一下 | 电话138-1234-5678 | 10.12.0.1 | 一周岁 | 读周一报""",
    ),
    (AMOUNT, "ru"): Row(
        (
            rf"{w.SUM}{w.GROUPED}\s?(?:(?:к|{w.RU_MANY})\s?)?{w.RU_MONEY}",
            rf"{w.SUM}(?<!дом\s)\d{{2,4}}к{w.END}{w.K_NOUN}",
            rf"{w.SUM}\d{{1,4}}[.,]\d{{1,2}}к{w.END}{w.K_NOUN}",
            rf"{w.SUM}{w.GROUPED}\s?{w.RU_MANY}(?!\w){w.RU_COUNTED}",
            rf"{w.SUM}{w.GROUPED}\s?(?:т\.?\s?р\.?|косар[а-я]{{1,3}}){w.END}",
            r"₽\s?\d",
            *(rf"{word} (?:рублей|руб|долларов|баксов|евро)(?!\w)" for word in w.RU_NUMERALS),
        ),
        """это 50к руб | 1 500 ₽ за штуку | нужно 1,5 млн | 20 баксов | 1000 рублей | аванс 50к | бюджет 300 тыс
        500 р. с человека | сто рублей | 100 долларов | 200 евро | зарплата 120к в месяц | 2 миллиона рублей
        скинь 700р | 15 т.р. | ₽500 | 50 000руб | пять тысяч рублей | сумма:500 руб | 1.500,00 руб""",
        """пробежал 5к | видео в 4к | 100к подписчиков | 2 млн человек | пришло 50 человек | 5 тысяч шагов
        рост 5% | версия 1.500 | дом 15к2 | счёт 5 к 1 | 10 рублёвок | еду в Европу 5 дней | монитор 27к экран
        500 раз говорил | 10 роз | 50 рук | 3 тысячи километров | комната 12 | 10к строк кода""",
    ),
    (AMOUNT, "en"): Row(
        (
            *(rf"{sign}\s?\d" for sign in (r"\$", "€", "£")),
            *(rf"{code}\s?\d{{1,9}}" for code in ("usd", "eur", "gbp", "rub")),
            rf"{w.SUM}{w.GROUPED}\s?(?:(?:k|thousand|million|billion|mln|m|bn)\s?)?{w.EN_MONEY}{w.END}",
            rf"{w.SUM}{w.GROUPED}\s?pounds(?!\w)(?! (?:of|lighter|heavier|overweight))(?<!lost\s\d\d\spounds)",
            *(rf"{word} (?:of )?\d{{1,3}}(?:\.\d)?k{w.END}{w.K_NOUN}" for word in w.EN_SPENDING),
            rf"{w.SUM}(?<!ran\s)(?<!ran\sa\s)(?<!a\s)\d{{2,4}}k{w.END}{w.K_NOUN}",
            rf"{w.SUM}\d{{1,4}}[.,]\d{{1,2}}k{w.END}{w.K_NOUN}",
            rf"{w.SUM}\d{{1,4}}(?:\.\d{{1,2}})?k (?:a|per) (?:month|year|week|piece|day|head)",
            rf"{w.SUM}{w.GROUPED}\s?(?:million|billion|mln|bn)(?!\w){w.EN_COUNTED}",
            *(
                rf"{word} (?:dollars|bucks|euros|grand)(?!\w)"
                for word in ("hundred", "thousand", "million", "five", "ten", "twenty", "fifty")
            ),
        ),
        """$1,200.50 | that's €30 | £15 each | 20 bucks | 500 dollars | the budget is 50k | we pay 5k for it
        USD 300 | 1.5 million | five hundred dollars | 100 EUR | 2 grand | it costs 5k | 80k per year | 30€
        5k a month | $ 40 | 1.5k is fine | 200 pounds""",
        """a 5k run | 4k video | 100k people | ran a 10k | 2 million users | version 5.0 | 5 pounds of flour
        20 percent | 10 km | 3 items | meet at 5 | iPhone 15 | 10k steps a day | won 3:2 | room 500
        5 million years ago | call 555 1234 | 8k tv""",
    ),
    (AMOUNT, "zh"): Row(
        (
            *(rf"{sign}\s?\d" for sign in "¥￥"),
            rf"{w.ZH_FIGURE}[万千百亿]?{w.ZH_MONEY}",
            rf"{w.ZH_FIGURE}[万千百]?块{w.ZH_PIECES}",
            rf"(?<![\d.])\d{{1,9}}(?:\.\d{{1,3}})?\s?[万亿]{w.ZH_COUNTED}",
            r"(?<![\d.])\d{1,5}(?:\.\d{1,2})?w(?![\w])",
            *(rf"{digit}[一二两三四五六七八九十百千万]{{0,7}}{w.ZH_MONEY}" for digit in "一二两三四五六七八九十几"),
        ),
        """500元 | 大概3万块 | ¥200 | 20块钱 | 预算3万 | 1.5万元 | 五百元 | 三万块 | 100美元 | ￥99.9 | 两百块钱
        1,200元 | 50块一个 | 押金2千块 | 房租3000元 | 1亿人民币 | 月薪2w | 200 欧元 | 几千块钱""",
        """3个人 | 第500页 | 2万人 | 5公里 | 一块去 | 100分 | 3块蛋糕 | 元旦快乐 | 一元二次方程 | 5万字 | 公元500年
        大块头 | 跑了5000米 | 10万粉丝 | 买了2块手表 | 温度20度 | 三块石头 | 500次 | 万一下雨""",
    ),
    (AGREEMENT, "ru"): Row(
        (
            r"(?<!не\s)договорились(?! ли)(?!\w)",
            r"договор(?:а|у|ом|е|ы|ов|ам|ами|ах|енност[а-я]{1,3}|чик[а-я]{0,3})?(?!\w)",
            r"(?<!не\s)соглас(?:ен|на|ны|овано|овали)(?!\w)",
            r"окей(?!\w)",
            r"ок,",
            *(rf"{word},?\s{{0,2}}(?:я )?{w.RU_PROMISED}(?!\w)" for word in ("хорошо", "ладно", "ок", "да")),
            r"(?<!не\s)(?<!так\s)(?<!как\s)(?<!нас\s)(?<!было\s)принято(?! \w)(?!\w)",
            r"принято (?:решение|единогласно|к (?:исполнению|сведению|работе))",
            r"по рукам(?!\w)(?! (?:ход|бь|пошл|хлоп|течет))",
            r"заметано(?!\w)",
            r"(?<!не\s)решено(?!\w)",
            r"так и (?:сделаем|поступим|решим|решили|договоримся)(?!\w)",
            r"заключили сделку",
            r"сделка (?:заключена|закрыта|состоялась)(?!\w)",
        ),
        """договорились! | ну всё, договорились | я согласен | она согласна | окей | ок, жду | хорошо, сделаю
        принято | Принято, спасибо | подписали договор | по рукам! | замётано | решено: едем | так и сделаем
        условия согласовано | договорённость в силе | принято решение ехать | сделка заключена | ладно, куплю
        ХОРОШО, СДЕЛАЮ""",
        """принято считать, что это вредно | согласно плану | урок, потом обед | не согласен | у нас так принято
        сделка сорвалась | не договорились | хорошо сидим | рукой подать | отлично выглядишь | какие сделки были
        заметно лучше | ок | порок, грех | это не принято | решение ещё не найдено | окейно ли
        ветер по рукам хлопал | сделаю когда-нибудь""",
    ),
    (AGREEMENT, "en"): Row(
        (
            rf"{w.EN_NO_DEAL_BEFORE}deal(?![\w'-])(?! (?:with|breaker|of|in|them|cards|drugs|damage|is off|fell))",
            r"(?<!not\s)(?<!never\s)(?<!n't\s)agreed(?![\w-])",
            r"i agree(?!\w)",
            r"we agree(?!\w)",
            r"ok,",
            r"okay(?:,| (?:then|deal|i'll|we'll|let's)(?!\w))",
            r"sounds (?:good|great|like a plan)(?!\w)",
            r"(?<!never\s)works for me(?!\w)",
            r"let's (?:do (?:it|that|this)|go with)(?!\w)",
            r"it's (?:settled|agreed|a deal|a date)(?!\w)",
            r"that's (?:settled|agreed|a deal)(?!\w)",
            r"shook hands on",
            r"shake on (?:it|that)",
            r"will do(?=[.,!]|(?!\s{0,3}\w))",
            r"contracts?(?!\w)(?! (?:a|an|the) (?:cold|disease|virus|flu|illness|fever))",
            r"(?<!no\s)(?<!an\s)agreement (?:signed|reached|is signed)(?!\w)",
        ),
        """Deal! | ok, see you there | agreed | we have a deal | sounds good | works for me | let's do it
        it's settled | I agree | okay then | We agreed on the price | it's a deal | will do!
        the contract is signed | let's shake on it | done deal | agreement reached | let's go with option B
        That’s settled then | OK, I'll take it""",
        """deal with it | a great deal of work | big deal | book, pen and paper | disagreed
        I don't agree with that | the dealer called | deal breaker | we haven't agreed yet | contraction
        to deal cards | it looks okra | ideal, really | no deal | look, a bird | what will dogs eat
        it took, say, an hour | agreeable weather | contractor is late | will do my best""",
    ),
    (AGREEMENT, "zh"): Row(
        (
            r"一言为定",
            r"就这[么样]\s?(?:定|办|说定|干|决定|着)",
            r"(?<!没)(?<!没有)说[定好]了",
            r"(?<!没)(?<!没有)约好了?",
            r"(?<!没)(?<!没有)约定(?!俗成)",
            r"成交(?![量额价])",
            r"好的?[呀啊吧]?[，,。！!]?\s?(?:没问题|就这样|一定|我(?:来|会|去|马上|这就))",
            r"行[，,]\s?(?:没问题|就这|我来|我会|听你)",
            r"(?<!不)(?<!没)(?<!未)同意(?!吗)",
            r"达成(?:一致|协议|共识)",
            r"(?<!没)(?<!没有)商量好了",
            r"合同",
            r"(?<![a-z\d])(?<!网络)(?<!传输)(?<!通信)协议(?!栈)",
            r"我答应",
            r"那就定[了在]",
        ),
        """好的，没问题 | 一言为定 | 就这么定了 | 说定了 | 成交！ | 我同意 | 约好了七点 | 达成一致 | 签合同
        那就定了 | 行，没问题 | 就这么办 | 好，我来 | 我答应你 | 双方达成协议 | 我们约定见面 | 好的,没问题
        说好了啊 | 已经商量好了 | 就这样定了吧""",
        """可以 | 可以吗 | 不同意 | 成交量很大 | 约定俗成 | 好吃 | 没问题吧这电脑 | http协议 | 你同意吗 | 好的
        还没说好了没 | 网络协议 | 行人很多 | 就这些吧 | 没约好 | 肯定了他的成绩 | 好像没有 | 未同意 | 成都交通""",
    ),
    (DEADLINE, "ru"): Row(
        (
            r"дедлайн(?:а|у|ом|е|ы|ов|ам|ами|ах)?(?!\w)",
            rf"срок(?:а|и|у|ом|е|ов|ам|ами|ах)?(?!\w){w.RU_SHELF_LIFE}",
            rf"до (?:конца {w.RU_SPAN}|\d{{1,2}}(?:-?го)? (?:{w.RU_MONTH}|числа)|\d{{1,2}}-?го)(?![а-я])",
            r"(?<!\d\s)до (?:\d{1,2}:\d\d|\d{1,2} (?:час|утра|вечера))",
            rf"до {w.D}[./]{w.MM}{w.DOTTED_REST}",
            rf"(?<=\w\s)(?<!ну\s)(?<!тогда\s)(?<!давай\s)(?<!пока\s)(?<!ок\s)до {w.RU_SOON}(?!\w)",
            rf"до {w.RU_SOON} {w.RU_MUST}",
            rf"к (?:{w.RU_DAY_DAT}|завтрашнему|утру|вечеру|обеду|(?:концу|началу) {w.RU_SPAN})(?!\w)",
            rf"к (?:\d{{1,2}} {w.RU_MONTH}|{w.D}\.{w.MM}|\d{{1,2}}-?му|\d{{1,2}}:\d\d)(?!\w)",
            r"не (?:позднее|позже|позднее чем)(?!\w)",
            r"в течение (?:\d{1,3} |двух |трех |пяти |этого |этой )?(?:рабоч[а-я]{2,3} )?"
            r"(?:дня|дней|час(?:а|ов)|недел[иь]|месяц(?:а|ев)|суток)(?!\w)",
            r"крайн(?:ий|его|ему) (?:срок|день)",
        ),
        """дедлайн в пятницу | какие сроки? | крайний срок — среда | пришли до 15 марта | до конца недели
        сделай к пятнице | не позднее вторника | не позже 18:00 | нужно до завтра | до 18:00 сдать | к концу месяца
        до 15.04 оплатить | в течение 3 дней | отчёт нужен до пятницы | к 15 марта | до 20-го числа
        до завтра надо сделать | к понедельнику готово | срок сдачи | К ОБЕДУ""",
        """до 5 человек | до 10 раз | до 100 рублей | до встречи | срок годности | до завтра! | Ну, до завтра
        срочно нужен врач | с 9:00 до 18:00 | до 3.11 км | к бабушке | до свидания | к счастью | скидка до 5%
        не поздно | дойти до дома | давай до понедельника | отсрочка дана | в течение реки | к чаю""",
    ),
    (DEADLINE, "en"): Row(
        (
            *(rf"{word}(?!\w)" for word in ("deadline", "deadlines", "eod", "eow", "eom")),
            r"cob(?!\w)(?! (?:salad|of))(?<!the\scob)",
            rf"by (?:this |next |early |late )?{w.EN_DAY}{w.END}(?!'s)",
            rf"by (?:tomorrow|tonight|noon|midnight|next week|the weekend){w.END}",
            rf"by (?:the )?(?:end of|{w.NTH}|close of business)(?!\w){w.EN_NOT_DAYS}",
            rf"by (?:the end of |mid-?|early |late )?{w.EN_MONTH}{w.END}",
            rf"by (?:{w.D} (?:of )?{w.EN_MONTH}|{w.M}/{w.D}(?!\d))",
            r"by (?:\d{1,2}(?::\d\d)?\s?[ap]\.?m|\d{1,2}:\d\d|20\d\d-\d\d)",
            rf"due (?:on|by|date|in \d|in (?:two|three)|tomorrow|today|tonight|next|this|{w.EN_DAY}){w.END}",
            *(rf"{word} later than(?!\w)" for word in ("no", "not")),
            r"at the latest(?!\w)",
            rf"before (?:{w.EN_DAY}|tomorrow|next week|the {w.NTH}){w.END}(?!'s)",
            r"before the end of the (?:day|week|month|year)(?!\w)",
            r"within (?:\d{1,3}|a|one|two|three|the next) (?:business |working )?(?:\d )?"
            r"(?:hours?|days?|weeks?|months?)(?!\w)",
            r"end of (?:day|business|play)(?!\w)",
        ),
        """by Friday | send it by EOD | due on the 5th | no later than noon | the deadline is near | by tomorrow
        by the end of the month | by March 5 | due tomorrow | by 5pm please | before Monday | within 3 days
        by the 15th | at the latest | by next week | due by Tuesday | end of day works | not later than May
        COB today | due date moved | by 18:00""",
        """by the way | stand by me | step by step | due to rain | by bus | up to 5 people | by 10% | due diligence
        corn on the cob | before lunch we walk | later | within reach | Friday night | a cobweb | by 5 votes
        the geode shop | by my side | in the end | bye, Monday | by Friday's child | due process""",
    ),
    (DEADLINE, "zh"): Row(
        (
            r"截止(?!阀)",
            r"最[晚迟](?!的)",
            r"不[晚迟]于",
            r"(?<!保质)期限",
            r"限期",
            r"到期",
            r"死线",
            r"ddl(?![a-z])",
            r"deadline",
            *(rf"(?<![上每]){week}{w.ZH_DAY}{w.ZH_BEFORE}" for week in w.ZH_WEEK),
            rf"(?<![\d.])\d{{1,2}}\s?[日号]{w.ZH_BEFORE}",
            rf"(?<![\d.])\d{{1,2}}\s?月\s?(?:\d{{1,2}}\s?[日号]|底|初)?{w.ZH_BEFORE}",
            rf"(?<![\d.:])\d{{1,2}}(?:[点:：]\d{{0,2}}半?){w.ZH_BEFORE}",
            *(rf"{word}{w.ZH_BEFORE}" for word in w.ZH_SOON),
            rf"(?<![\d.])\d{{1,3}}{w.ZH_SPAN}",
            *(rf"{digit}{w.ZH_NUM}{{0,2}}{w.ZH_SPAN}" for digit in "一两三四五六七八九十"),
        ),
        """周五前给我 | 截止日期是周三 | 最晚明天 | 3月15日前完成 | 月底前交 | 不晚于六点 | 三天内回复
        24小时内付款 | 期限快到了 | 限期整改 | 下班前发我 | 15号之前 | 明天之前要 | 合同到期 | ddl是周日
        星期一之前 | 最迟下周 | 18:00前到 | 下周前搞定 | 5个工作日内""",
        """三天前见过 | 前天去了 | 以前住这里 | 目前还行 | 面前有只猫 | 周五前天气不错吗 | 最后一次 | 保质期限
        到处都是 | 之前说过 | 前面右转 | 5天没睡 | 周五前面有车 | 室内很冷 | 国内航班 | 最晚的一班车 | 晚上见
        上周五之前""",
    ),
}
