# ruff: noqa: E501 - a turn of phrase stays on its line
"""English turns of phrase for duties, decisions, agreement, completion, tone and facts. Tables only."""

from __future__ import annotations

from pkg_pipeline.adapters.offline.phrases import Phrases, Signal

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
    Signal("doing_it", r"^(?:ok(?:ay)?,? )?(?:calling|sending|booking|ordering|paying|texting|writing|getting|picking|fixing|printing|buying|emailing|forwarding|uploading|checking|asking|bringing) (?:\w+ ){0,3}(?:now|at|today|tonight|tomorrow|on|in|them|him|her|it|you)\b", 1.4, "speaker"),
    Signal("we_bring", r"\bwe'?ll (?:bring|do|make|take|get|cover|pay|send|buy|cook|handle|organi[sz]e|book) (?:the|some|all|your)\b", 1.0, "speaker"),
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

STOPWORDS = frozenset(
    ["a", "about", "above", "after", "again", "all", "also", "am", "an", "and", "any", "are", "aren't", "as", "at", "be", "because", "been", "before", "being", "below", "between", "both", "but", "by", "can", "can't", "cannot", "could", "couldn't", "did", "didn't", "do", "does", "doesn't", "doing", "don't", "down", "during", "each", "even", "ever", "every", "few", "for", "from", "further", "get", "gets", "getting", "go", "goes", "going", "gone", "gonna", "got", "had", "hadn't", "has", "hasn't", "have", "haven't", "having", "he", "he'd", "he'll", "he's", "her", "here", "here's", "hers", "herself", "him", "himself", "his", "how", "how's", "i", "i'd", "i'll", "i'm", "i've", "if", "in", "into", "is", "isn't", "it", "it'd", "it'll", "it's", "its", "itself", "just", "kind", "know", "let", "let's", "like", "lot", "make", "many", "may", "maybe", "me", "mean", "might", "more", "most", "much", "must", "my", "myself", "no", "nor", "not", "now", "of", "off", "oh", "ok", "okay", "on", "once", "one", "only", "or", "other", "our", "ours", "out", "over", "own", "perhaps", "please", "quite", "rather", "really", "right", "said", "same", "say", "see", "she", "she'd", "she'll", "she's", "should", "shouldn't", "so", "some", "something", "sort", "still", "stuff", "such", "sure", "than", "thank", "thanks", "that", "that'll", "that's", "the", "their", "theirs", "them", "then", "there", "there's", "these", "they", "they'd", "they'll", "they're", "they've", "thing", "things", "think", "this", "those", "though", "through", "to", "too", "two", "uh", "uhm", "um", "under", "until", "up", "us", "use", "used", "using", "very", "want", "wanna", "was", "wasn't", "way", "we", "we'd", "we'll", "we're", "we've", "well", "were", "weren't", "what", "what's", "when", "where", "which", "while", "who", "whom", "why", "will", "with", "without", "won't", "would", "wouldn't", "yeah", "yep", "yes", "yet", "you", "you'd", "you'll", "you're", "you've", "your", "yours", "yourself", "hi", "hello", "hey", "hmm", "mm", "mm-hmm", "huh", "ah", "alright", "actually", "basically", "probably", "guess", "bit", "good", "great", "nice", "fine", "anyway", "already", "back", "come", "take", "give", "put", "look", "looking", "thought", "another", "around", "else", "lol", "haha", "bye", "tell", "though", "ve", "re", "ll", "don", "isn", "didn", "doesn", "wouldn", "couldn", "got'ta", "gotta", "cause", "'cause", "pretty", "first", "last", "next", "anything", "everything", "nothing", "someone", "anyone", "everyone", "always", "never", "today", "tomorrow", "yesterday"]
)

PHRASES = Phrases(
    actions=ACTIONS + QUESTIONS,
    decisions=DECISIONS,
    proposal=r"\b(?:let's|let us|how about|what about|why don'?t (?:we|you)|shall we|should we|we (?:could|should|can)|i (?:suggest|propose|vote)|maybe we)\b",
    acceptance=(
        r"^\W*(?:(?:oh|ah|well|yes|yeah|yep|ok|okay|sure|great|perfect|cool|fine|right|alright|absolutely|definitely|agreed|deal|"
        r"sounds? (?:good|great|perfect|like a plan)|works? for me|good idea|no problem|np|of course|i agree|let'?s do (?:it|that)|"
        r"will do|done deal|confirmed|approved|go ahead|i'?ll do (?:it|that)|my pleasure|with pleasure|gladly|all right)\b[\s,.!]*)+"
    ),
    refusal=r"^\W*(?:no\b(?! problem| worries)|nope|sorry|i can'?t|i don'?t think|not really|unfortunately|i'?d rather not|i disagree)",
    done=(
        r"^(?:ok(?:ay)?[,.]? )?(?:(?:the |your |all )?\w+ ){0,2}(?:printed|sent|booked|paid|ordered|bought|signed|forwarded|dropped|delivered|uploaded|"
        r"fixed|merged|cancelled|canceled|emailed|picked up|submitted|filed|transferred|reserved|is (?:open|out|up|in|sent|booked|done|ready|live|paid|signed))\b|"
        r"\b(?:done|finished|completed|sorted|fixed|submitted|i(?:'ve| have)? (?:just |already )?(?:sent|paid|booked|bought|called|"
        r"ordered|did|made|signed|uploaded|posted|shared|emailed|checked|transferred|delivered|finished|fixed|completed|picked|"
        r"confirmed|cancelled|canceled|prepared|updated|reviewed|written|wrote|forwarded|reserved|registered|scheduled|cleaned)|"
        r"(?:just|already|been) (?:sent|paid|booked|bought|ordered|signed|uploaded|posted|shared|done|fixed|delivered)|"
        r"(?:sent|paid|booked|ordered|signed|uploaded|fixed|merged|deployed) (?:it|them|that|the|your|both|to)|all set)\b"
    ),
    obligation=r"\b(?:contract|deadline|due|must|obliged|guarantee|penalty|invoice|deposit|salary|rent|loan|liable|agreement|budget|price|cost|payment)\b",
    contact_facts=(
        (
            "birthday",
            r"\b(?:my birthday(?: is|'s)?(?: on)?|i was born (?:on|in)|born on)\s+(?P<value>[^.,;!?\n]{3,40})",
            0.8,
        ),
        (
            "address",
            r"\b(?:my (?:new )?address(?: is|:)?|i live (?:at|on)|we live (?:at|on)|office is at)\s+(?P<value>[^.;!?\n]{5,80})",
            0.75,
        ),
        (
            "city",
            r"\b(?:i live in|i'?m (?:based|living) in|i(?:'ve)? moved to|we moved to|i'?m from)\s+(?P<value>(?:[A-Z][\w'-]+)(?: [A-Z][\w'-]+){0,2})",
            0.6,
        ),
        (
            "position",
            r"\b(?:i work as (?:an? )?|i'?m (?:now )?(?:the |an? )(?=[^.,;!?\n]{0,40}(?:manager|engineer|designer|director|developer|teacher|doctor|lawyer|analyst|accountant|head|lead|ceo|cto|cfo|nurse|architect|editor|producer|scientist|consultant|officer)\b)|i'?m (?:our |your )?new (?=\w+ (?:manager|engineer|designer|director|lead)))(?P<value>[^.,;!?\n]{3,60})",
            0.65,
        ),
        (
            "workplace",
            r"\b(?:i (?:now )?work (?:at|for)|i(?:'ve)? (?:joined|started at)|my new job (?:is )?at)\s+(?P<value>[A-Z0-9][^.,;!?\n]{1,50})",
            0.65,
        ),
        ("name", r"\b(?:my name(?:'s| is))\s+(?P<value>[A-Z][\w'-]+(?: [A-Z][\w'-]+){0,2})", 0.75),
        (
            "preference",
            r"\bi(?:'m| am) (?P<value>(?:allergic to|vegetarian|vegan|lactose intolerant)[^.,;!?\n]{0,40})",
            0.7,
        ),
        (
            "family",
            r"\bmy (?P<value>(?:wife|husband|son|daughter|brother|sister|mother|father|mom|dad|partner)(?:'s name)? (?:is|is called)? ?[A-Z][\w'-]+)",
            0.55,
        ),
    ),
    filler=r"(?:\b(?:u+h+m*|u+m+|e+r+m*|e+h+|h+m+|mm+(?:-?hmm*)?|a+h+|o+h+|you know|i mean|sort of|kind of|kinda|i guess|basically|actually|like i say|as i say|'kay)\b[,.]?\s*)",
    opener=(
        r"^(?:(?:(?:so|ok(?:ay)?|yeah|yep|and|but|alright|all right|then|anyway|oh|ah|hey|hi|hello|also|plus|because|'cause|cause|or|"
        r"lol|haha|well|guys)\b|(?:no|yes|right|now|sure|great|cool|nice|good|fine|perfect|awesome|thanks|thank you|of course|really)"
        r"(?=\s*[,.!-]))[\s,.!-]*)+"
    ),
    idle=r"\b(?:let me (?:check|see|think|look)|see (?:you|ya|u)|talk (?:to you )?(?:later|soon)|take care|you'?re (?:the best|welcome)|how (?:are|is) (?:you|it|everything)|what'?s up|good (?:morning|night|afternoon|evening|luck|idea)|thank(?:s| you)|sorry|(?:bad|good) news|congrat\w*|don'?t worry|can'?t wait|of course|no problem|my pleasure|excuse me|come in|welcome)\b",
    ahead=r"\b(?:next (?:meeting|time|session|phase|step|call)|(?:in the )?meantime|after (?:the|this|our) (?:meeting|call|lunch)|before (?:the|our|next) (?:meeting|call)|at the end of the (?:meeting|day)|later (?:today|on this)|until then|by then|once (?:we|you|i) (?:have|get|are)|as soon as)\b",
    work_product=r"\b(?:reports?|presentations?|documents?|minutes|slides|e-?mails?|drafts?|plans?|budget|proposals?|questionnaires?|contracts?|invoices?|notes|tickets?|spreadsheet|agenda|summary|results|figures|quote|estimate|schedule|specifications?|specs?|user manual|feedback|files?|copy|copies)\b",
    consent=r"\b(?:deal|agreed|i agree|it'?s a (?:deal|date)|go ahead|approved|confirmed|works for (?:me|us)|sounds? (?:good|great|perfect|like a plan)|count me in|i'?m in|let'?s do (?:it|that)|suits me|(?:that|it|this) (?:is|'s) (?:settled|fixed|a plan)|accepted|settled|then it'?s)\b|^\W*\w+ it is\b(?! not|n't)",
    promise=r"\b(?:will do|i'?ll do (?:it|that|so)|can do|on it|i will\b|consider it done|i'?ll (?!be\b|take (?:it|that))\w+)",
    stopwords=STOPWORDS,
    positive=r"\b(?:great|love|lovely|awesome|perfect|happy|glad|thanks|thank you|congrat\w*|excellent|wonderful|amazing|fun|nice|cool|yay|brilliant|fantastic|enjoy\w*|good (?:job|news|idea|luck)|well done|haha|lol|excited|pleased|delighted)\b|[😀-😊😍🥰😘🎉👍❤🙌🤗🥳]|:\)|:D",
    negative=r"\b(?:sorry|sad|bad|angry|upset|terrible|awful|hate|problem|unfortunately|disappoint\w*|worried|annoy\w*|fail\w*|broken|complain\w*|late|wrong|worse|worst|sick|hurts?|unacceptable|fault|damn|shit|stupid|ridiculous|frustrat\w*|delay\w*|argu\w*)\b|[😞😠😡😢😭👎🤬💔]|:\(",
    formal=r"\b(?:dear|regards|sincerely|pursuant|hereby|kindly|attached|enclosed|regarding|per our|accordingly|furthermore|mr\.?|mrs\.?|ms\.?|agreement|invoice|proposal|stakeholders?|deliverables?|quarterly|compliance|respectively)\b",
    informal=r"\b(?:lol|haha+|gonna|wanna|gotta|yeah|yep|nope|hey|u|ur|thx|btw|omg|dude|bro|cool|kinda|tbh|idk|np|pls|xoxo|yo)\b|[😀-🙏🤐-🤯🥰-🥺]",
    templates={
        "discussed": "{who} discussed {topics}.",
        "and": " and ",
        "others": "{who} and {n} others",
        "said": "{who}: {what}",
        "empty": "{who} exchanged short messages without text to summarise.",
        "decided": "Agreed: {what}",
        "agreed_by": "{what} ({who} agreed)",
    },
)
