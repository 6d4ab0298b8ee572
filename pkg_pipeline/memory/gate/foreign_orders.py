"""Orders to the model in eight more languages, by the words that such orders are made of (B15). Data and patterns only.

Words are beginnings, case-folded, without marks on Latin letters (``gate_text.plain``); an order names what is to be
ignored, who is spoken to, or where something is to be written. Which word comes first differs by language.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple


class Words(NamedTuple):
    """Beginnings of words, apart by spaces; ``_`` stands for a gap of one to three characters."""

    ignore: str
    """What is done to instructions."""
    instructions: str
    reader: str
    """Who reads: the model."""
    output: str
    """Where it writes."""
    write: str
    system: str
    """Whole phrases that claim to come from above."""
    now: str
    """Phrases that hand out a role or a rule for good; it takes two signs."""


LANGUAGES: Final = {
    "de": Words(
        ignore="ignorier vergiss vergess missacht uberspring verwirf befolge_nicht",
        instructions="anweisung instruktion vorgabe befehl regeln systemprompt prompt",
        reader="ki assistent ki-assistent ki-modell sprachmodell chatbot zusammenfasser",
        output="zusammenfassung stichpunkt kernpunkt ausgabe gedachtnis langzeitgedachtnis kernaussage",
        write="schreib fuge trag nimm notier setz vermerk erganz speicher gib halte",
        system="systemnachricht systemanweisung systemmeldung systemprompt systemhinweis entwicklernachricht",
        now="ab_jetzt von_nun_an ab_sofort du_bist_jetzt du_bist_nun antworte_nur antworte_ausschliesslich",
    ),
    "fr": Words(
        ignore="ignor oubli neglig outrepass contourn passe_outre",
        instructions="instruction consigne directive regles invite_systeme prompt",
        reader="ia assistant l'assistant l'ia modele_de_langage robot chatbot",
        output="resume synthese points_cles sortie memoire compte_rendu",
        write="ecri ajoute inscri note mets insere consigne_dans enregistre indique mentionne",
        system="message_systeme message_du_systeme note_systeme invite_systeme consigne_systeme message_du_developpeur",
        now="desormais a_partir_de_maintenant dorenavant tu_es_maintenant reponds_uniquement reponds_seulement",
    ),
    "es": Words(
        ignore="ignor olvid omit descart desobede salta",
        instructions="instruccion indicacion directriz reglas ordenes prompt",
        reader="ia asistente modelo_de_lenguaje chatbot bot resumidor",
        output="resumen puntos_clave salida memoria sintesis",
        write="escrib agreg anad inclu pon anota guarda registra indica",
        system="mensaje_del_sistema mensaje_de_sistema aviso_del_sistema instruccion_del_sistema mensaje_del_desarr",
        now="a_partir_de_ahora desde_ahora de_ahora_en_adelante ahora_eres responde_solo responde_unicamente",
    ),
    "it": Words(
        ignore="ignor dimentic trascur scart disattend aggira",
        instructions="istruzion indicazion direttiv regole comandi prompt",
        reader="ia assistente modello_linguistico chatbot bot",
        output="riassunto sintesi punti_chiave riepilogo memoria output",
        write="scriv aggiung inserisc includ metti annot registr salva indica",
        system="messaggio_di_sistema messaggio_del_sistema avviso_di_sistema istruzione_di_sistema messaggio_dello_svi",
        now="d'ora_in_poi da_ora_in_poi da_adesso ora_sei adesso_sei rispondi_solo rispondi_soltanto",
    ),
    "pl": Words(
        ignore="ignoruj zignoruj zapomnij pomin odrzuc nie_zwracaj",
        instructions="instrukcj polecen wskazowk wytyczn regul zasad prompt",
        reader="ai asystenc asystent model_jezykow sztuczna_inteligencj chatbot bot",
        output="podsumowani streszczeni kluczowe_punkty kluczowych_punkt pamieci odpowiedzi",
        write="napisz dopisz dodaj zapisz wpisz umiesc uwzglednij zanotuj",
        system="komunikat_systemowy wiadomosc_systemowa instrukcja_systemowa polecenie_systemowe wiadomosc_od_progr",
        now="od_teraz od_tej_pory jestes_teraz teraz_jestes odpowiedz_tylko odpowiadaj_tylko",
    ),
    "sv": Words(
        ignore="ignorera glom bortse asidosatt strunta",
        instructions="instruktion anvisning regler direktiv prompt",
        reader="ai assistent sprakmodell chattbot bot ai-assistent",
        output="sammanfattning nyckelpunkt huvudpunkt minne utdata",
        write="skriv lagg notera spara ange inkludera infoga ta_med",
        system="systemmeddelande systeminstruktion systemprompt utvecklarmeddelande",
        now="fran_och_med_nu hadanefter du_ar_nu svara_bara svara_endast",
    ),
    "tr": Words(
        ignore="yoksay yok_say gormezden unut dikkate_alma gec_ atla",
        instructions="talimat yonerge komut kural istem prompt",
        reader="yapay_zeka asistan dil_modeli sohbet_botu bot",
        output="ozet onemli_nokta ana_nokta bellek bellegin hafiza cikti",
        write="yaz ekle kaydet koy belirt not_al",
        system="sistem_mesaji sistem_talimati sistem_istemi sistem_bildirimi gelistirici_mesaji",
        now="bundan_sonra bundan_boyle su_andan_itibaren artik_sen sen_artik sadece_yaz yalnizca_yaz",
    ),
    "ja": Words(
        ignore="無視 忘れ 破棄 従わない 取り消",
        instructions="指示 命令 ルール プロンプト 規則 指令",
        reader="ai アシスタント 言語モデル 人工知能 チャットボット 要約者",
        output="要約 サマリー 要点 まとめ 出力 記憶 メモリ",
        write="書 加え 追加 含め 記載 入れ 記録 保存",
        system="システムメッセージ システム指示 システムプロンプト システム通知 開発者メッセージ 開発者からの",
        now="今から これから 今後 以後 だけ答え とだけ のみ出力 のみ回答",
    ),
}

_GAP: Final = r".{0,60}"


def _any(words: str) -> str:
    alternatives = (re.escape(word).replace("_", r"\W{1,3}") for word in words.split())
    return f"(?:{'|'.join(alternatives)})"


SHORT: Final = frozenset(("ai", "ia", "ki", "bot"))
"""Stand inside too many other words."""

_IF_YOU_ARE: Final = r"(?:\b(?:wenn du|falls du|si tu es|si eres|se sei|jesli jestes|om du ar|eger)\b|もし)"
_FOR: Final = r"\b(?:an|fur|pour|para|per|dla|till|for)\b"
_INTO: Final = r"\b(?:in|ins|zum|zur|zu|dans|au|aux|en|a|al|nel|nella|nei|ai|do|w|i|till)\b"
_MUST: Final = r"(?:muss|soll|doit|debe|deve|musi|maste|ska)"


def _strong(language: str, words: Words) -> Iterable[str]:
    """Chinese characters and kana have no edges of words; Turkish and Japanese name the place before the verb."""
    edge, end = ("", "") if language == "ja" else (r"\b", r"\w{0,4}")
    ignore, instructions, output, write = (
        edge + _any(group) for group in (words.ignore, words.instructions, words.output, words.write)
    )
    short = " ".join(word for word in words.reader.split() if word in SHORT)
    long = " ".join(word for word in words.reader.split() if word not in SHORT)
    reader = rf"(?:(?<![a-z]){_any(short)}(?![a-z])|{edge}{_any(long)}{end})" if short else f"{edge}{_any(long)}{end}"
    yield f"{ignore}{_GAP}{instructions}"
    yield f"{instructions}{_GAP}{ignore}"
    yield edge + _any(words.system)
    yield rf"(?:^|[.!?。！？] ?)(?:\w+ ){{0,3}}{reader} ?[:：—]"
    yield rf"{_IF_YOU_ARE}.{{0,15}}{reader}"
    yield rf"{_FOR} (?:\w+ ){{0,2}}{reader} ?[:：—]"
    if language in {"tr", "ja"}:
        yield rf"{reader} icin\b"
        yield rf"{output}{_GAP}{write}"
    else:
        yield rf"{write}{_GAP}{_INTO} (?:\w+ ){{0,2}}{output}"
        yield rf"{output}\w* {_MUST}\b"


def patterns_of(language: str) -> tuple[str, ...]:
    """What of an order in the language is one by itself."""
    return tuple(_strong(language, LANGUAGES[language]))


STRONG: Final = tuple(pattern for language in LANGUAGES for pattern in patterns_of(language))
WEAK: Final = tuple(_any(words.now) for words in LANGUAGES.values())

TRIGGERS: Final = frozenset(
    max(word.split("_"), key=len)
    for words in LANGUAGES.values()
    for group in (words.instructions, words.reader, words.output, words.system, words.now)
    for word in group.split()
    if word not in SHORT
)
"""One of these stands in whatever a pattern finds; looking for them first is far faster."""
