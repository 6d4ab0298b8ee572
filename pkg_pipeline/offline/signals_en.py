# ruff: noqa: E501 - a turn of phrase stays on its line
"""English turns of phrase that hand out duties or settle something, with their weights. Tables only."""

from __future__ import annotations

from pkg_pipeline.offline.phrases import Signal

_DO = (
    r"(?:send|bring|make|do|call|ring|phone|text|write|prepare|book|check|fix|finish|draft|share|post|order|pay|buy|pick|"
    r"get|take|arrange|organi[sz]e|schedule|set|update|review|sign|confirm|ask|tell|talk|speak|find|look|come|put|print|"
    r"upload|forward|email|e-mail|mail|invite|test|deploy|ship|deliver|return|reply|respond|present|research|investigate|"
    r"contact|handle|cover|cook|drop|drive|transfer|submit|file|work|design|negotiate|create|add|remove|change|move|clean|"
    r"reserve|register|renew|cancel|collect|complete|follow|let|give|hand|join|meet|try|start|help|remind|wait|read|go|show|"
    r"keep|discuss|visit|fill|note|double-check|figure|sort|decide|build|develop|evaluate|summari[sz]e|circulate)"
)

ACTIONS = (
    Signal(
        "i_will_do",
        rf"\b(?:i'?ll|i will|i shall|i'?m going to|i'?m gonna|i am going to) (?:\w+ ){{0,2}}?{_DO}\b",
        2.0,
        "speaker",
    ),
    Signal(
        "i_will_any",
        r"\b(?:i'?ll|i will|i shall)(?: just| also| then| only)? (?!be\b|have to|see\b|think\b|guess|say\b|need|want|know\b|never|not\b|miss|take it\b|tell you|go with|make it|start\b|just\b|also\b|then\b|only\b|love|like|always|probably|die|kill)\w{2,}",
        1.7,
        "speaker",
    ),
    Signal(
        "doing_it",
        r"^(?:ok(?:ay)?,? )?(?:calling|sending|booking|ordering|paying|texting|writing|getting|picking|fixing|printing|buying|emailing|forwarding|uploading|checking|asking|bringing) (?:\w+ ){0,3}(?:now|at|today|tonight|tomorrow|on|in|them|him|her|it|you)\b",
        1.4,
        "speaker",
    ),
    Signal(
        "we_bring",
        r"\bwe'?ll (?:bring|do|make|take|get|cover|pay|send|buy|cook|handle|organi[sz]e|book) (?:the|some|all|your)\b",
        1.0,
        "speaker",
    ),
    Signal("i_can_do", rf"\bi (?:can|could) (?:\w+ )?{_DO}\b", 0.6, "speaker"),
    Signal("let_me", rf"\blet me (?!know|see|think|guess|tell|say|just say){_DO}\b", 0.5, "speaker"),
    Signal("i_have_to", rf"\bi (?:have to|need to|must|should|'ve got to|gotta) (?:\w+ )?{_DO}\b", 0.9, "speaker"),
    Signal(
        "on_me",
        r"\b(?:leave (?:it|that) (?:to|with) me|i'?m on it|will do|consider it done|i'?ll (?:handle|take care of|do) (?:it|that))\b",
        1.2,
        "speaker",
    ),
    Signal(
        "we_will_do",
        rf"\b(?:we'?ll|we will|we'?re going to|we'?re gonna|we (?:have|need) to|we must|we should) (?:\w+ ){{0,2}}?{_DO}\b",
        0.9,
        "both",
    ),
    Signal(
        "let_us",
        r"\b(?:let's|let us) (?:\w+ )?(?:meet|talk|discuss|plan|get|schedule|catch up|set|arrange|speak|reconvene|sync)\b",
        1.2,
        "both",
    ),
    Signal(
        "can_you",
        r"\b(?:can|could|would|will) (?:you|u|one of you|someone|somebody)\b(?! (?:see|say|imagine|believe|remember|hear|tell that))",
        1.9,
        "addressee",
    ),
    Signal(
        "would_you_mind",
        r"\b(?:would|do) you mind\b|\b(?:would|is) it (?:be )?possible\b|\bwould it help\b",
        2.0,
        "addressee",
    ),
    Signal("please", r"\b(?:please|pls|plz|kindly)\b", 2.2, "addressee"),
    Signal(
        "imperative",
        rf"^(?:(?:ok(?:ay)?|so|and|also|then|hey|hi|well|just|now|dear|either|first|maybe|\w+[,:])[,:]? ){{0,2}}?(?:{_DO}|make sure|be sure|don'?t forget|remember to|advise|attend|tell|call|leave|hold|watch|proceed|provide|include|stop|use|plan|note)\b(?! (?:it'?s|that'?s|you know|for granted))",
        1.5,
        "addressee",
    ),
    Signal(
        "do_not_forget",
        r"\b(?:don'?t forget|remember to|make sure|be sure to|remind me|do not hesitate)\b",
        1.8,
        "addressee",
    ),
    Signal(
        "let_me_know",
        r"\blet (?:me|us) know\b|\bget back to (?:me|us)\b|\bkeep me posted\b|\bgive (?:me|us) a (?:call|ring|shout)\b",
        2.0,
        "addressee",
    ),
    Signal(
        "you_need",
        rf"\b(?:you'?ll|you will|you (?:need|have|ought) to|you should|you must|you'?re (?:going|gonna|supposed) to|you gotta) (?:\w+ ){{0,2}}?{_DO}\b",
        1.3,
        "addressee",
    ),
    Signal("you_can", rf"\b(?:you|ya) (?:can|could|might) (?:\w+ ){{0,2}}?{_DO}\b", 0.6, "addressee"),
    Signal(
        "gonna_work",
        r"\b(?:gonna|going to|will|'ll|to|keep) (?:be |keep |start )?(?:work(?:ing)?|look(?:ing)?|watch(?:ing)?|prepar(?:e|ing)|writ(?:e|ing)) (?:on|at|out|up|into|together|the|a)\b",
        0.9,
        "none",
    ),
    Signal(
        "want_you",
        r"\b(?:i|we)(?:'d| would)? (?:want|like|need|love|expect|ask) (?:(?:for )?you|your \w+) (?:\w+ )?to\b",
        1.8,
        "addressee",
    ),
    Signal(
        "i_need",
        r"\b(?:i|we)(?:'ll| will)? (?:really )?need (?:your|the|a|an|to know|it|that|them)\b",
        0.8,
        "addressee",
    ),
    Signal(
        "would_like",
        r"\bi(?:'d| would) (?:like|love|appreciate|be grateful|be interested)\b|\bwould (?:greatly )?appreciate\b",
        1.2,
        "addressee",
    ),
    Signal(
        "supposed_to",
        r"\b(?:supposed to|responsible for|in charge of|assigned to|action item|to-?do|homework)\b",
        1.1,
        "none",
    ),
    Signal("waiting", r"\b(?:waiting for (?:your|you)|looking forward to (?:your|hearing))\b", 0.8, "addressee"),
)

QUESTIONS = (
    Signal(
        "are_you_free",
        r"\b(?:are|will) you (?:\w+ )?(?:free|available|around|able|interested|planning|thinking|doing|in|coming)\b",
        1.2,
        "addressee",
    ),
    Signal(
        "can_we",
        r"\b(?:can|could|shall|should|may|might) we\b|\bcan i\b|\bmaybe (?:we|you) (?:can|could|should)\b",
        0.9,
        "both",
    ),
    Signal(
        "works_for",
        r"\b(?:works?|suits?) (?:for )?(?:me|us|you)\b|\bwould work\b|\bif you (?:want|have any|would like|have time|get a chance|permit|can)\b",
        1.0,
        "addressee",
    ),
)

DECISIONS = (
    Signal(
        "decided",
        r"\b(?:we|i|they|the \w+|he|she)(?:'ve| have|'s| has)? (?:just |finally |all |both |already )?(?:decided|agreed|settled|chosen|opted|determined)\b",
        2.2,
    ),
    Signal(
        "it_is_decided",
        r"\b(?:it'?s|that'?s|is|are|been) (?:all )?(?:decided|agreed|settled|final|finali[sz]ed|confirmed|approved|set|a deal|official)\b",
        1.8,
    ),
    Signal("decision", r"\b(?:decision|agreement|consensus|final (?:choice|version|price|answer))\b", 0.9),
    Signal("go_with", r"\b(?:go(?:ing)?|went|stick(?:ing)?|stay(?:ing)?|run) (?:with|for|ahead with)\b", 1.5),
    Signal(
        "let_us",
        r"\b(?:let's|let us) (?:\w+ )?(?:go|use|do|have|stick|keep|make|take|meet|say|say that|put|move|start|book|order|buy|choose|pick|split|wait|leave|call|postpone|cancel|skip|try|order|get)\b",
        1.4,
    ),
    Signal("we_will", r"\b(?:we'?ll|we will|we'?re going to|we'?re gonna|we are going to|we shall)\b", 0.9),
    Signal("accept", r"\bi(?:'ll| will)? (?:accept|take (?:it|the offer))\b|\bwe (?:accept|take it)\b", 1.5),
    Signal("deal", r"\b(?:deal|it'?s a date|done deal|settled then|agreed)\b[.! ]*$|^agreed\b", 1.3),
    Signal("instead", r"\b(?:instead of|rather than|no need (?:for|to)|no longer|drop|skip|scrap)\b", 0.5),
    Signal(
        "so_it_is",
        r"^(?:ok(?:ay)?|alright|right|so|then)[ ,.]+(?:so )?(?:it|we|that|the)\b[^?]* (?:is|will|'ll|should|are|be)\b",
        0.8,
    ),
    Signal(
        "should_be",
        r"\b(?:should|must|has to|have to|will|would|gonna) (?:only |also |definitely |just |probably )?(?:be|have|use|cost|include|feature|stay|contain)\b",
        0.5,
    ),
    Signal("approve", r"\b(?:i approve|approved|sign(?:ed)? off|green light|go ahead|confirmed)\b", 1.2),
)
