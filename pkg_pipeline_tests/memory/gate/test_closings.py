"""What became of an item by the words that are said to show it: done, given up, put off, or none of these."""

from __future__ import annotations

import pytest

from pkg_pipeline_tests.memory.gate.closings import became

ITEMS = {
    "en1": ("them", "Sam sends the photos", "I'll send the photos"),
    "en2": ("self", "I pay the deposit", "I'll pay the deposit"),
    "en3": ("them", "Tom fixes the fence", "I'll fix the fence"),
    "en4": ("self", "I book the hotel", "I'll book the hotel"),
    "ru1": ("them", "Семён пришлёт фото", "пришлю фото"),
    "ru2": ("self", "Я внесу залог", "внесу залог"),
    "ru3": ("them", "Толя починит забор", "починю забор"),
    "ru4": ("self", "Я забронирую отель", "забронирую отель"),
    "zh1": ("them", "小孙发照片", "照片我来发"),
    "zh2": ("self", "我付押金", "押金我来付"),
    "zh3": ("them", "老魏修围栏", "围栏我来修"),
    "zh4": ("self", "我订酒店", "酒店我来订"),
    "en5": ("them", "Sam sends the drawings", "I'll send the drawings"),
    "ru5": ("them", "Семён пришлёт чертежи", "пришлю чертежи"),
    "zh5": ("them", "孙培发图纸", "图纸我来发"),
    "en6": ("them", "Sam sends the lease", "I'll send the lease"),
    "ru6": ("them", "Семён пришлёт договор аренды", "пришлю договор"),
    "zh6": ("them", "孙培发租房合同", "合同我来发"),
}
SAID = """
en1 open < Photos are still on my camera, sorry
en1 open < Couldn't find the cable, so no photos today
en1 open > Did the photos go out? | < Most of them, the rest tonight
en1 done > Did the photos go out? | < They did, an hour ago
en1 open < Shall I send you the photos or the film?
en1 open < I sent the photos to the wrong address, will resend
en1 cancelled > Forget the photos, I found them in the cloud
en2 open > The bank is down, the payment didn't go through
en2 open < The deposit isn't here yet
en2 open > I paid the rent, the deposit follows
en2 cancelled < No need for a deposit after all
en3 open < Fence is half up, rain stopped me
en3 done < The fence stands again
en3 renewed < Fence won't happen before June, sorry
en3 done > My neighbour has fixed the fence meanwhile
en3 open < I wish the fence were done already haha
en4 open > The hotel was fully booked
en4 done > Hotel is sorted, two nights
en4 renewed < Have you booked the hotel? | > Not yet, tomorrow
en4 done < Have you booked the hotel? | > Of course
en4 cancelled > We don't need a hotel, we sleep at Ann's
en4 open > I booked the flights today
ru1 open < Фото всё ещё в камере, извини
ru1 open < Кабель не нашёл, так что фото сегодня не будет
ru1 open > Фото ушли? | < Большая часть, остальное вечером
ru1 done > Фото ушли? | < Ушли, час назад
ru1 open < Тебе фото прислать или видео?
ru1 open < Отправил фото не на тот адрес, перешлю
ru1 cancelled > Фото уже не нужны, нашла в облаке
ru2 open > Банк завис, платёж не прошёл
ru2 done < Залог пришёл, спасибо
ru2 open < Залога пока не вижу
ru2 open > За аренду заплатил, залог следом
ru2 cancelled < Залог вносить не надо
ru3 open < Забор наполовину стоит, дождь помешал
ru3 done < Забор снова стоит
ru3 renewed < С забором раньше июня не получится
ru3 open < Вот бы забор уже был готов, ха-ха
ru4 open > Мест в отеле не было
ru4 done > С отелем решил, две ночи
ru4 renewed < Отель забронировал? | > Нет ещё, завтра
ru4 done < Отель забронировал? | > Конечно
ru4 cancelled > Отель не понадобится, ночуем у Ани
zh1 open < 照片还在相机里，不好意思
zh1 open < 没找到线，今天照片发不了
zh1 open > 照片发了吗？ | < 大部分发了，剩下的晚上发
zh1 done > 照片发了吗？ | < 一小时前发的
zh1 open < 你要照片还是视频？
zh1 open < 照片发错邮箱了，我重发
zh1 cancelled > 照片不用发了，我在云盘找到了
zh2 open > 银行系统坏了，没付成
zh2 done < 押金到了，谢谢
zh2 open < 押金还没看到
zh2 open > 房租付了，押金随后
zh2 cancelled < 押金不用付了
zh3 open < 围栏修了一半，下雨停了
zh3 done < 围栏修好了
zh3 renewed < 围栏六月前修不了
zh3 open < 围栏要是已经修好就好了，哈哈
zh4 open > 酒店满了，没订到
zh4 done > 酒店搞定了，两晚
zh4 renewed < 酒店订了吗？ | > 还没，明天
zh4 done < 酒店订了吗？ | > 当然
zh4 cancelled > 不用订酒店，住安娜家
en5 open < I'll send the drawings tonight | > Thanks a lot!
en5 open > Thanks in advance for the drawings
en5 open > Don't forget the drawings | < Thanks for reminding me
en5 renewed > Drawings on Friday then? | < Great, Friday
en5 open < The drawings should be with you by now
en5 open < The drawings must be done by Friday
en5 open > Are the drawings done? | < No
en5 open > Have you got the drawings ready? | < I wish
en5 open < I told you I'd send the drawings
en5 open < My colleague was supposed to send the drawings
en5 open < I'm just sending the drawings
en5 open < First drawing done, five to go
en5 open > You sent me an empty file instead of the drawings
en5 open < I can't open the drawings myself
en5 open < Drawings? I sent you the invoice, that's all
en5 open < I'd rather have sent the drawings earlier
en5 open > I got the drawings, but the old ones
en5 open < Let me finish the drawings first
en5 open > Where are the drawings you promised?
en5 cancelled < We dropped the drawings, the client wants photos
en5 open < The drawings went out, but to Tom only
en5 done > Nice drawings!
en5 renewed < Not before Monday, the drawings
en5 cancelled < Never mind the drawings, the project is off
en5 open > The drawings never arrived
en5 done < Drawings: see your mailbox
en5 open > You said the drawings were sent, they weren't
en5 open < Drawings done :))) just kidding
en5 open < I asked Tom for the drawings
ru5 open < Чертежи вечером пришлю | > Спасибо большое!
ru5 open > Заранее спасибо за чертежи
ru5 open > Не забудь чертежи | < Спасибо, что напомнил
ru5 renewed > Чертежи тогда в пятницу? | < Отлично, в пятницу
ru5 open < Чертежи уже должны быть у тебя
ru5 open < Чертежи должны быть готовы к пятнице
ru5 open > Чертежи готовы? | < Нет
ru5 open > Чертежи готовы? | < Если бы
ru5 open < Я же сказал, что пришлю чертежи
ru5 open < Чертежи должен был прислать коллега
ru5 open < Как раз отправляю чертежи
ru5 open < Чертежи пока в типографии
ru5 open < Первый чертёж готов, осталось пять
ru5 open > Ты прислал пустой файл вместо чертежей
ru5 open < Сам не могу открыть чертежи
ru5 open < Лучше бы я раньше отправил чертежи
ru5 open < Дай сначала чертежи закончу
ru5 open > Где обещанные чертежи?
ru5 cancelled < От чертежей отказались, заказчику нужны фото
ru5 cancelled > Я сама начертила, не надо
ru5 open < Чертежи ушли, но только Толе
ru5 done > Чертежи отличные!
ru5 renewed < Чертежи — не раньше понедельника
ru5 cancelled < Забудь про чертежи, проект закрыли
ru5 open > Чертежи так и не дошли
ru5 done < Чертежи смотри в почте
ru5 open < Чертежи готовы))) шучу
ru5 open < Попросил чертежи у Толи
zh5 open < 图纸我晚上发 | > 太谢谢了！
zh5 open > 图纸先谢谢啦
zh5 open > 别忘了图纸 | < 谢谢提醒
zh5 renewed > 图纸周五？ | < 好，周五
zh5 open < 图纸应该到你那儿了吧
zh5 open < 图纸周五前要做好
zh5 open > 图纸好了吗？ | < 没有
zh5 open > 图纸好了吗？ | < 要是好了就好了
zh5 open < 我说过会发图纸的
zh5 open < 图纸本来是同事发的
zh5 open < 图纸正在发
zh5 open < 图纸还在打印店
zh5 open < 第一张图纸好了，还有五张
zh5 open > 你发的是空文件，不是图纸
zh5 open < 图纸我自己也打不开
zh5 open < 图纸？我只发了账单
zh5 open < 早点发图纸就好了
zh5 open < 等我先把图纸弄完
zh5 open > 说好的图纸呢？
zh5 cancelled < 图纸不做了，客户要照片
zh5 cancelled > 我自己画好了，不用了
zh5 open < 图纸发了，不过只发给小陶
zh5 done > 图纸真好看！
zh5 renewed < 图纸周一前不行
zh5 cancelled < 别管图纸了，项目停了
zh5 open > 图纸一直没到
zh5 done < 图纸看你邮箱
zh5 open > 你说图纸发了，可是没有
zh5 open < 图纸好了，开玩笑的
zh5 open < 我找小陶要图纸了
en6 open < The keys went by post this morning
en6 open < The boiler is fixed
en6 open < I called the electrician
en6 open < Oh sure, the lease sends itself lol
en6 open < If the lease were signed we could start
en6 open < Started on the lease
en6 open < Lease is nearly ready
en6 open < Which lease do you mean?
en6 done > And the lease? | < Sent it on Monday
en6 done > Lease is here, thank you
en6 done < The lease is in your letterbox
en6 cancelled < I won't do the lease, get a lawyer
en6 cancelled > And the lease? | < Let's drop it
en6 renewed > And the lease? | < Next week, promise
en6 open > Could you scan it too? | < No, I have no scanner
en6 open < Last year I sent the lease in May
en6 open < Bob sent his lease already
en6 open > Lease done? | < Haha, good one
en6 open > Lease done? | < Don't ask
en6 open > Did you send the lease? | < I sent the old one by mistake
en6 open < The lease got lost in the post
en6 open < I thought I had sent the lease
en6 cancelled > Please don't send the lease, we rent elsewhere
en6 open < My printer died, so no lease today
en6 done < Lease: signed, scanned, sent
en6 open < Was going to send the lease but fell asleep
ru6 open < Ключи утром ушли почтой
ru6 open < Электрику я позвонил
ru6 open < Ага, договор сам себя пришлёт, лол
ru6 open < Если бы договор был подписан, уже начали бы
ru6 open < Начал готовить договор
ru6 open < Договор почти готов
ru6 open < Какой договор?
ru6 done > А договор? | < В понедельник отправил
ru6 done > Договор у меня, спасибо
ru6 done < Договор лежит у тебя в ящике
ru6 cancelled < Договор делать не буду, возьми юриста
ru6 renewed > А договор? | < На той неделе, обещаю
ru6 open > А скан сделаешь? | < Нет, сканера нет
ru6 open < В прошлом году я договор в мае прислал
ru6 open < Боря свой договор уже прислал
ru6 open > Договор готов? | < Ха-ха, смешно
ru6 open > Договор готов? | < Не спрашивай
ru6 open > Договор отправил? | < Старый по ошибке отправил
ru6 open < Договор потерялся на почте
ru6 cancelled > Договор не присылай, снимаем в другом месте
ru6 open < Принтер сдох, договора сегодня не будет
ru6 done < Договор подписал, отсканировал, отправил
ru6 open < Хотел отправить договор и уснул
zh6 open < 钥匙早上寄出去了
zh6 open < 锅炉修好了
zh6 open < 电工我打过电话了
zh6 open < 是啊，合同自己会发，哈哈
zh6 renewed < 合同今晚寄出
zh6 open < 要是合同签了就可以开工了
zh6 open < 合同开始写了
zh6 open < 合同快好了
zh6 open < 哪份合同？
zh6 done > 合同收到了，谢谢
zh6 done < 合同放你信箱里了
zh6 cancelled < 合同我不弄了，你找律师吧
zh6 cancelled > 合同呢？ | < 算了吧
zh6 renewed > 合同呢？ | < 下周，一定
zh6 open > 能扫描一下吗？ | < 不行，没有扫描仪
zh6 open < 去年合同我五月就发了
zh6 open < 小鲍的合同已经发了
zh6 open > 合同好了吗？ | < 哈哈，你真逗
zh6 open > 合同好了吗？ | < 别提了
zh6 open > 合同发了吗？ | < 发成旧的了
zh6 done > 合同在路上了吗？ | < 嗯
zh6 open < 合同寄丢了
zh6 open < 我还以为合同发了
zh6 cancelled > 合同别发了，我们租别处了
zh6 open < 打印机坏了，今天没有合同
zh6 done < 合同签好、扫描好、发了
zh6 open < 本来要发合同的，睡着了
"""
"""Item, what became of it by the last message, and the messages, said to me (<) or by me (>)."""


@pytest.mark.parametrize("row", [row for row in SAID.splitlines() if row])
def test_an_item_becomes_what_the_words_say_and_nothing_else(row: str) -> None:
    right = row.split()[1]
    allowed = {right} if right in ("done", "cancelled") else {"renewed"}  # what is open may also be put off
    wrong = {to for to in ("done", "cancelled", "renewed") if to not in allowed and became(ITEMS, row, to)}
    assert not wrong
    assert right == "open" or became(ITEMS, row, right)
