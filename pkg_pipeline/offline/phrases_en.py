# ruff: noqa: E501 - a turn of phrase stays on its line
"""English words of agreement, completion, tone and facts, fillers and stopwords. Tables only."""

from __future__ import annotations

from pkg_pipeline.offline.phrases import Phrases
from pkg_pipeline.offline.signals_en import ACTIONS, DECISIONS, QUESTIONS

_STOPWORDS = """
a about above after again all also am an and any are aren't as at be because been before being below between
both but by can can't cannot could couldn't did didn't do does doesn't doing don't down during each even ever
every few for from further get gets getting go goes going gone gonna got had hadn't has hasn't have haven't
having he he'd he'll he's her here here's hers herself him himself his how how's i i'd i'll i'm i've if in into
is isn't it it'd it'll it's its itself just kind know let let's like lot make many may maybe me mean might more
most much must my myself no nor not now of off oh ok okay on once one only or other our ours out over own
perhaps please quite rather really right said same say see she she'd she'll she's should shouldn't so some
something sort still stuff such sure than thank thanks that that'll that's the their theirs them then there
there's these they they'd they'll they're they've thing things think this those though through to too two uh uhm
um under until up us use used using very want wanna was wasn't way we we'd we'll we're we've well were weren't
what what's when where which while who whom why will with without won't would wouldn't yeah yep yes yet you
you'd you'll you're you've your yours yourself hi hello hey hmm mm mm-hmm huh ah alright actually basically
probably guess bit good great nice fine anyway already back come take give put look looking thought another
around else lol haha bye tell ve re ll don isn didn doesn wouldn couldn got'ta gotta cause 'cause pretty first
last next anything everything nothing someone anyone everyone always never today tomorrow yesterday
"""
STOPWORDS = frozenset(_STOPWORDS.split())

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
