# ruff: noqa: E501 - a list of words stays on its line
"""What the offline synthesis of a relationship listens for and says, by language. Words and patterns only.

Patterns are general turns of phrase, none names a product, a person or a branch of business.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from pkg_pipeline.memory.records import Language


@dataclass(frozen=True, slots=True)
class Signals:
    """Regular expressions of one language, matched without regard to case; see ``profile_type`` for their use."""

    trade: str
    buys: str
    sells: str
    work: str
    partnership: str
    personal: str
    family: str
    family_name: str
    is_client: str
    is_vendor: str


@dataclass(frozen=True, slots=True)
class Compiled:
    """The same, ready to match."""

    trade: re.Pattern[str]
    buys: re.Pattern[str]
    sells: re.Pattern[str]
    work: re.Pattern[str]
    partnership: re.Pattern[str]
    personal: re.Pattern[str]
    family: re.Pattern[str]
    family_name: re.Pattern[str]
    is_client: re.Pattern[str]
    is_vendor: re.Pattern[str]


_EN = Signals(
    trade=r"\b(?:contracts?|invoices?|payments?|deposits?|quotes?|quotations?|pric(?:e|es|ing)|fees?|orders?|deliver(?:y|ies)|purchases?|prepayment|refunds?|discounts?|rent|retainer|estimates?|offers?)\b",
    buys=r"\b(?:pays?|paid|(?:will|to|would) pay|transfers?|transferred|orders? (?!for\b)\w+|ordered|buys?|bought|hires?|hired|rents?|commission(?:s|ed)|books?|booked|wire[sd]?|settle[sd]? the (?:bill|invoice)|signs? off the budget|accepts? the (?:quote|offer|estimate))\b",
    sells=r"\b(?:(?:send|sent|sends|issue[sd]?|prepare[sd]?) (?:\w+ ){0,4}(?:invoices?|quotes?|estimate|offer|bill)|invoice[sd]|delivers?|delivered|ships?|shipped|sells?|sold|charges?|charged|quotes?\b(?! from)|quoted|offers? (?:\w+ ){0,3}(?:discount|price|batch|rate)|supplies|supplied|installs?|repair(?:s|ed))\b",
    work=r"\b(?:sprint|release|deploy\w*|standup|stand-up|backlog|code review|pull request|ticket|tickets|our (?:team|department|office|manager|boss)|the team|team lead|quarterly|presentation|slides|roadmap|onboarding|payroll|day off|vacation request|shift|handover|staging|tests|rota|meeting room|all-hands|report)\b",
    partnership=r"\b(?:our (?:company|startup|studio|business|venture|shop|product)|co-?founders?|co-?owner|joint (?:venture|project|business)|profit shar\w+|shares? of the profit|equity|split (?:the )?(?:profit|revenue|costs)|partnership|we (?:launch|open|run|register)\w*|investors?)\b",
    personal=r"\b(?:birthday|party|parties|cinema|movie|film|concert|dinner|drinks|beer|pub|weekend|trip|hike|hiking|holiday|holidays|camping|football|game night|board games?|wedding|kids|cat|dog|gift|present|barbecue|bbq|beach|guitar|gym|running|book club|recipe|moving house|date|dating|girlfriend|boyfriend|picnic|climbing)\b",
    family=r"\b(?:mum|mom|mother|dad|father|grandma|granny|grandpa|grandmother|grandfather|aunt|uncle|cousin|sister|brother|family dinner|family)\b",
    family_name=r"^(?:mum|mom|mummy|mother|dad|daddy|father|grandma|granny|grandpa|aunt|uncle|auntie|sister|brother|sis|bro)\b",
    is_client=r"\b(?:client|customer|buyer|tenant)\b",
    is_vendor=r"\b(?:vendor|supplier|contractor|freelancer|landlord|plumber|electrician|accountant|dentist|doctor|tutor|agent|wholesaler|hairdresser|mechanic|builder|carpenter|photographer)\b",
)
_RU = Signals(
    trade=r"\b(?:договор\w*|контракт\w*|сч[её]т(?:а|у|ом|ов|е)?|оплат\w*|предоплат\w*|аванс\w*|цен[аыуе]\w*|стоимост\w*|заказ(?:а|ы|ов|у|е|ом)?|поставк\w*|поставок|доставк\w*|смет\w*|скидк\w*|аренд\w*|закупк\w*|партия|партию|прайс\w*|накладн\w*)\b",
    buys=r"\b(?:оплат(?:ит|ил|ила|им|или|ят|ить|ишь|а внесена)|оплачу|оплачива\w+|заплат\w+|плат(?:ит|ят|ила|ил)|перевед[её]т|перев[её]л[аи]?|закаж\w+|заказал[аи]?|заказывает|куп(?:ит|ил|ила|им)|покупает|закуп(?:ит|ил|ила|ает)|прин(?:ял|яла|имает) смету|арендует|снимает|вн[её]с(?:ла|ут|ёт|ет)? (?:аванс|предоплату|залог))\b",
    sells=r"\b(?:(?:пришл\w+|прислал[аи]?|выстав\w+|отправ\w+|подготов\w+|выслал[аи]?|вышл\w+|скин\w+) (?:\w+ ){0,3}(?:сч[её]т\w*|смет\w+|прайс|коммерческ\w+|КП\b|накладн\w+)|постав(?:ит|ил|ила|ляет|ят)|достав(?:ит|ил|ила|ляет|ят)|отгруз\w+|прода(?:ст|л|ла|ёт|ет)|готовы? отдать|отда(?:ст|ёт|ет) за|да(?:ст|л|ла|ёт|ет) скидку|предлож(?:ит|ил|ила) (?:цену|скидку)|установит|смонтиру\w+|отремонтиру\w+|починит)\b",
    work=r"\b(?:спринт\w*|релиз\w*|деплой\w*|ревью|бэклог\w*|планёрк\w*|планерк\w*|летучк\w*|совещани\w*|созвон\w*|отч[её]т\w*|презентаци\w*|отдел\w*|начальни\w*|руководител\w*|команд[аыеу]|командой|больничн\w*|дежурств\w*|смен[аыу]\b|регламент\w*|стажёр\w*|стажер\w*|тикет\w*|квартальн\w*|коллег\w*|онбординг\w*)\b",
    partnership=r"\b(?:наш(?:а|ей|у|его|ем|е)? (?:компани\w+|стартап\w*|студи\w+|бизнес\w*|проект\w*|дел[оау]|магазин\w*|продукт\w*)|сооснователь\w*|совладел\w+|партн[её]рств\w*|дол[яиюе] в|доли|делим прибыль|прибыль пополам|пополам|совместн\w+ (?:проект\w*|бизнес\w*|предприяти\w+)|инвестор\w*|учредител\w*|уставн\w+)\b",
    personal=r"\b(?:д(?:ень|ня|ню|нём) рождени\w|вечеринк\w*|кино|фильм\w*|концерт\w*|ужин\w*|пив[оау]|бар[еау]?|выходны\w+|поездк\w*|поход\w*|отдых\w*|отпуск\w* вместе|рыбалк\w*|футбол\w*|настолк\w*|свадьб\w*|дет(?:и|ей|ям|ьми)|кот\w?\b|собак\w*|подар\w+|шашлык\w*|дач[аеиу]\w*|пляж\w*|гитар\w*|спортзал\w*|пробежк\w*|рецепт\w*|в гост\w+|книг\w*|гор[ыах]+\b|велосипед\w*|лыж\w+)\b",
    family=r"\b(?:мам[аыуе]|мамой|пап[аыуе]|папой|бабушк\w*|дедушк\w*|т[её]т[яи]|дяд[яи]|брат\w?|сестр\w+|внук\w*|внучк\w*|племянни\w+|родител\w+|семь[яиюе]\w*)\b",
    family_name=r"^(?:мам\w*|пап\w*|бабушк\w*|бабул\w*|дедушк\w*|дед|т[её]тя|дядя|брат\w*|сестр\w*|жена|муж|сын\w*|доч\w+)\b",
    is_client=r"\b(?:клиент\w*|заказчи\w+|покупател\w*|арендатор\w*)\b",
    is_vendor=r"\b(?:поставщи\w+|подрядчи\w+|исполнител\w*|фрилансер\w*|арендодател\w*|сантехник\w*|электрик\w*|бухгалтер на аутсорсе|стоматолог\w*|врач\w*|репетитор\w*|агент\w*|оптовик\w*|мастер\w*|автомеханик\w*|фотограф\w*)\b",
)
_ZH = Signals(
    trade=r"合同|发票|付款|定金|订金|报价|价格|费用|订单|交货|送货|采购|退款|折扣|租金|预付|尾款|货款|账单",
    buys=r"付款|支付|付(?:了|清|定金|订金|尾款|租金)|转账|打款|下单|订购|购买|采购|租下|预订|接受报价|汇款",
    sells=r"(?:发|寄|开|提供|给出|出具)(?:了|来|一份|新的|正式)*(?:报价|发票|账单|价格)|报价为|交货|发货|送货|供货|出售|给.{0,4}折扣|优惠|安装|维修|上门",
    work=r"评审|上线|迭代|周会|例会|开会|加班|部门|领导|经理|主管|同事|汇报|报告|季度|排班|值班|请假|需求|测试|版本|项目组|团队|绩效|培训",
    partnership=r"合伙|合作办|我们(?:的)?(?:公司|工作室|店|项目|产品)|股份|股权|分红|利润平分|一起创业|共同(?:经营|投资|出资)|投资人|注册公司",
    personal=r"生日|聚会|电影|演唱会|吃饭|火锅|喝酒|周末|旅行|旅游|爬山|露营|足球|篮球|桌游|婚礼|孩子|猫|狗|礼物|烧烤|海边|吉他|健身|跑步|打球|逛街|唱歌|菜谱|搬家",
    family=r"妈妈|爸爸|母亲|父亲|奶奶|爷爷|外婆|外公|姥姥|姥爷|叔叔|阿姨|姐姐|妹妹|哥哥|弟弟|家里|全家|家人|年夜饭",
    family_name=r"^(?:妈妈?|爸爸?|老妈|老爸|母亲|父亲|奶奶|爷爷|外婆|外公|姥姥|姥爷|叔叔|姑姑|舅舅|姐姐?|妹妹?|哥哥?|弟弟?|老婆|老公)$",
    is_client=r"客户|顾客|买家|甲方|租客",
    is_vendor=r"供应商|供货商|承包商|乙方|房东|水管工|电工|医生|牙医|家教|中介|批发商|师傅|摄影师",
)
_TABLES = {"en": _EN, "ru": _RU, "zh": _ZH}


@cache
def signals(language: Language) -> Compiled:
    """The compiled patterns of a language; made once per process."""
    table = _TABLES[language]
    return Compiled(**{name: re.compile(getattr(table, name), re.IGNORECASE) for name in Signals.__dataclass_fields__})


TYPES: Mapping[str, Mapping[str, str]] = {
    "en": {
        "client": "a client",
        "vendor": "a supplier",
        "partner": "a business partner",
        "colleague": "a colleague",
        "friend": "a friend",
        "acquaintance": "an acquaintance",
        "other": "a close contact",
    },
    "ru": {
        "client": "клиент",
        "vendor": "поставщик",
        "partner": "деловой партнёр",
        "colleague": "коллега",
        "friend": "друг",
        "acquaintance": "знакомство",
        "other": "близкий контакт",
    },
    "zh": {
        "client": "客户",
        "vendor": "供应商",
        "partner": "合伙人",
        "colleague": "同事",
        "friend": "朋友",
        "acquaintance": "熟人",
        "other": "亲近的人",
    },
}
FREQUENCIES: Mapping[str, Mapping[str, str]] = {
    "en": {
        "daily": "about every day",
        "weekly": "about every week",
        "monthly": "about every month",
        "quarterly": "every few months",
        "rare": "rarely",
    },
    "ru": {
        "daily": "почти каждый день",
        "weekly": "примерно раз в неделю",
        "monthly": "примерно раз в месяц",
        "quarterly": "раз в несколько месяцев",
        "rare": "редко",
    },
    "zh": {"daily": "几乎每天", "weekly": "大约每周", "monthly": "大约每月", "quarterly": "每隔几个月", "rare": "很少"},
}
TEMPLATES: Mapping[str, Mapping[str, str]] = {
    "en": {
        "about": "{name} is {kind}; they talk about {topics}.", "bare": "{name} is {kind}.", "org": "{name} ({org})",
        "often": "In touch since {first}, {often}, {count} conversations; the last was on {last}.",
        "decided": "Latest important decision ({day}): {what}.", "open": "Open now ({count}): {what}.", "due": "{what}, due {due}", "nothing": "Nothing is open.",
        "least": "Conversations: {count}, since {first}.", "and": ", ",
        "quarter": "Q{quarter} {year}: {what}.", "year": "{year}: {what}.", "earlier": "Up to {year}: {what}.", "met": "First contact with {name} on {first}.", "now": "Last conversation on {last}.",
        "first": "First conversation: {what}", "again": "In touch again after {days} days: {what}", "joint": " ",
    },
    "ru": {
        "about": "{name} — {kind}; темы разговоров: {topics}.", "bare": "{name} — {kind}.", "org": "{name} ({org})",
        "often": "На связи с {first}, {often}, разговоров: {count}; последний был {last}.",
        "decided": "Последнее важное решение ({day}): {what}.", "open": "Сейчас открыто ({count}): {what}.", "due": "{what}, срок {due}", "nothing": "Открытых дел нет.",
        "least": "Разговоры: {count}, с {first}.", "and": ", ",
        "quarter": "{year}, {quarter}-й квартал: {what}.", "year": "{year}: {what}.", "earlier": "По {year} год: {what}.", "met": "Первый контакт: {name}, {first}.", "now": "Последний разговор {last}.",
        "first": "Первый разговор: {what}", "again": "Снова на связи через {days} дн.: {what}", "joint": " ",
    },
    "zh": {
        "about": "{name}是{kind}，谈的主要是{topics}。", "bare": "{name}是{kind}。", "org": "{name}（{org}）",
        "often": "自{first}起联系，{often}，共谈{count}次，最近一次在{last}。",
        "decided": "最近的重要决定（{day}）：{what}。", "open": "未完成（{count}）：{what}。", "due": "{what}，期限{due}", "nothing": "没有未完成的事。",
        "least": "谈话{count}次，始于{first}。", "and": "、",
        "quarter": "{year}年第{quarter}季度：{what}。", "year": "{year}年：{what}。", "earlier": "{year}年及以前：{what}。", "met": "{first}与{name}初次联系。", "now": "最近一次谈话在{last}。",
        "first": "初次谈话：{what}", "again": "相隔{days}天后再次联系：{what}", "joint": "",
    },
}  # fmt: skip
