"""What instructions to a model look like, as data: by kind, the texts that a match holds, and the pattern.

`PHRASES` are matched on letters alone, so a gap of a few letters stands for a few small words. `MARKS` and
`OTHER_SCRIPTS` are matched on the text itself. Every gap is bounded.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from agentforge.tools.bridge import ALIASES, TOOLS

Kind = Literal[
    "override", "new_orders", "tool_order", "secrets", "role_markup", "fake_call", "hidden_text", "encoded"
]


class Phrase(NamedTuple):
    """A pattern, and literal texts one of which every match of it holds."""

    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    back: int = 0
    """How far before the hint a match may begin."""


def _phrase(hints: str, pattern: str, back: int = 0) -> Phrase:
    return Phrase(tuple(hints.split()), re.compile(pattern, re.MULTILINE), back)


_NAMES = "|".join(sorted({name for name in (*TOOLS, *ALIASES, "submit_artifact") if "_" in name}))
_TOOL = f"(?:{_NAMES.replace('_', '')})"
_EARLIER = (
    "(?:previous|prior|above|preceding|earlier|foregoing|initial|original|system|developer|existing|your)"
)
_ORDERS = "(?:instruction|prompt|directive|guideline)"
_PROMPT = "(?:system|hidden|initial)prompt"
_SECRET = (
    f"(?:{_PROMPT}|instructions|apikey|secretkey|secrets|environmentvariable|envvar|environment|credential|password|privatekey|sshkey"
    "|accesstoken|token|envfile)"
)
_OBJECTS = (
    "prompt instructions apikey secret environment envvar credential password privatekey sshkey token envfile"
)
_FEW = "(?:me|us|all|any|of|the|out|here|back|contents?|full|entire|complete|every|each|users?|this|repository|project){0,6}"
_SHOW = "(?:print|reveal|output|dump|leak|exfiltrate|repeat|disclose|showme|tellme|giveme)"
_SEND = "(?:send|post|upload|exfiltrate|leak|email|forward|transmit|submit)"
_RUN = "(?:call|invoke|run|use|execute)(?:the|tool|function|with|named){0,3}"

_ENGLISH = (
    _phrase(
        "ignor disregard forget neglect",
        rf"(?:ignor(?:e|ing)|disregard|forget|neglect)(?:ing|s)?[a-z]{{0,16}}?{_EARLIER}[a-z]{{0,14}}?{_ORDERS}",
    ),
    _phrase(
        "ignore disregard",
        rf"(?:ignore|disregard)(?:all|any)(?:of)?(?:the|your|my|our|other){{0,2}}{_ORDERS}",
    ),
    _phrase(
        "ignore disregard forget",
        "(?:ignore|disregard|forget)(?:all|any)?(?:of)?(?:the|your)?(?:previous|prior)(?:rules|orders|commands|messages|context)",
    ),
    _phrase(
        "forgeteverything forgetall disregardeverything ignoreeverything",
        "(?:forget|disregard|ignore)(?:everything|all)(?:thats?|which)?(?:you(?:were|have|ve|know)|above|before|i(?:have|ve)?(?:said|told))",
    ),
    _phrase(
        "donotfollow dontfollow stopfollowing",
        rf"(?:donot|dont|stop)follow(?:ing)?[a-z]{{0,12}}?{_EARLIER}[a-z]{{0,10}}?{_ORDERS}",
    ),
    _phrase(
        "override bypass",
        "(?:override|bypass)(?:all|any|the|your|previous|existing|of){0,4}"
        "(?:systemprompt|systeminstruction|safety(?:rule|instruction|guideline|filter)|previousinstruction|priorinstruction)",
    ),
    _phrase("snoitcurtsni", "snoitcurtsni[a-z]{0,12}?(?:suoiverp|roirp|evoba)[a-z]{0,16}?erongi"),
)

_OTHER_LANGUAGES = (  # German, French, Spanish, Portuguese, Italian, Dutch, Polish, without accents
    _phrase(
        "ignorier vergiss vergesse missacht",
        "(?:ignorier|vergiss|vergesse|missacht)[a-z]{0,14}?(?:vorherig|bisherig|obig|fruher|vorig|vorangegangen)[a-z]{0,14}?"
        "(?:anweisung|instruktion|befehl|regel|vorgabe)",
    ),
    _phrase(
        "ignor oublie nepastenircompte netenezpascompte",
        "(?:ignor|oublie|nepastenircompte|netenezpascompte)[a-z]{0,14}?(?:instructions|consignes|directives|ordres)[a-z]{0,8}?"
        "(?:precedent|anterieur|cidessus|dudessus)",
    ),
    _phrase(
        "ignor olvid omit desestim",
        "(?:ignor|olvid|omit|desestim)[a-z]{0,14}?(?:instrucciones|indicaciones|ordenes)[a-z]{0,8}?(?:anteriores|previas|dearriba)",
    ),
    _phrase(
        "ignor esquec desconsider",
        "(?:ignor|esquec|desconsider)[a-z]{0,14}?(?:instrucoes|ordens|orientacoes)[a-z]{0,8}?(?:anteriores|previas|acima)",
    ),
    _phrase(
        "ignor dimentic trascur",
        "(?:ignor|dimentic|trascur)[a-z]{0,14}?(?:istruzioni|indicazioni|ordini)[a-z]{0,8}?(?:precedenti|sopra)",
    ),
    _phrase(
        "negeer vergeet",
        "(?:negeer|vergeet)[a-z]{0,10}?(?:vorige|eerdere|bovenstaande|voorgaande)[a-z]{0,6}?(?:instructies|opdrachten|aanwijzingen)",
    ),
    _phrase(
        "ignoruj zapomnij",
        "(?:ignoruj|zapomnij)[a-z]{0,14}?(?:poprzednie|wczesniejsze|powyzsze|poprzednich)[a-z]{0,8}?(?:instrukcj|polece)",
    ),
)

_NEW_ORDERS = (
    _phrase(
        "newsystem systemoverride developermode",
        "newsystem(?:prompt|instruction)|systemoverride|developermode(?:isnow)?(?:enabled|activated)",
    ),
    _phrase("enabledevelopermode", "enabledevelopermode"),
    _phrase(
        "yournew yourreal youractual yourtrue",
        "your(?:new|real|actual|true)(?:instructions?|task|orders?|goal|role|rules)(?:is|are)(?:to|as|now|the|follow)",
    ),
    _phrase(
        "fromnowon startingnow",
        "(?:fromnowon|startingnow)(?:youare|youmust|youwill|youshall|youhaveto|actas|pretend|always(?:obey|answer|call|run))",
    ),
    _phrase(
        "youareno",
        "youareno(?:longer(?:an?|bound|the|restricted)|w(?:an?(?:unrestricted|different|new|evil|root|hacker|jailbroken)|dan(?!g)"
        "|indevelopermode|indebugmode|root|free(?:from|of)))",
    ),
    _phrase(
        "aimodel aiassistant aiagent llm languagemodel",
        "(?:attention|important|notice|instructions?|message)(?:to|for)(?:all|any|the|every){0,2}(?:ai|llm|language)"
        "(?:models?|assistants?|agents?|reviewers?)",
        40,
    ),
    _phrase(
        "readingthis processingthis reviewingthis seeingthis parsingthis",
        "(?:ai|coding)(?:assistant|agent|model|reviewer)s?(?:thatis|whois|are)?(?:reading|processing|reviewing|seeing|parsing)this",
        30,
    ),
)

PHRASES: Mapping[Kind, tuple[Phrase, ...]] = MappingProxyType(
    {
        "override": (*_ENGLISH, *_OTHER_LANGUAGES),
        "new_orders": _NEW_ORDERS,
        "tool_order": (
            _phrase(
                "youmust youshould youneedto youhaveto youshall youwill agentmust assistantmust modelmust",
                "(?:you|agent|assistant|model)(?:must|should|needto|haveto|shall|will)"
                rf"(?:now|first|next|immediately|always|also|then|please){{0,3}}{_RUN}{_TOOL}",
            ),
            _phrase(
                "nowcall nowinvoke nowexecute immediately pleasecall callthetool usethetool invokethetool",
                rf"(?:now|immediately|please)?{_RUN}{_TOOL}",
            ),
        ),
        "secrets": (
            _phrase(
                _OBJECTS,
                rf"{_SHOW}{_FEW}your(?:own|full|entire|hidden|complete|initial|original|secret|exact|whole){{0,3}}{_SECRET}",
                70,
            ),
            _phrase("prompt", rf"(?:print|reveal|output|repeat|show|leak){_FEW}{_PROMPT}", 60),
            _phrase(
                _OBJECTS,
                rf"{_SEND}{_FEW}{_SECRET}s?[a-z]{{0,24}}?to(?:https?|attacker|evil|thefollowing|thisurl|thisaddress|myserver)",
                60,
            ),
            _phrase("exfiltrate steal", rf"(?:exfiltrate|steal){_FEW}{_SECRET}"),
        ),
    }
)

MARKS: Mapping[Kind, tuple[Phrase, ...]] = MappingProxyType(
    {
        "role_markup": (
            _phrase(
                "<|im_ <|start_header_id|> <|eot_id|> <|system|> <|assistant|>",
                r"<\|(?:im_start|im_end|\w{6,15}(?=\|))\|>",
            ),
            _phrase("<start_of_turn> <<sys>>", "<start_of_turn>|<<sys>>"),
            _phrase("[inst] [/inst]", r"\[inst\] ?(?=[a-z]{2}|<<)|\[/inst\]"),
            _phrase(
                "##",
                r"#{2,4} ?system(?: (?:prompt|message|instructions?))?[ \t]{0,4}(?::|$)|#{2,4} "
                r"?instruction:[ \t]{0,4}$",
            ),
            Phrase(("\n\nhuman:", "\n\nassistant:"), re.compile(r"\n\n(?:human|assistant):")),
            _phrase(
                "<system </system> [system",
                r"</?system(?:[-_](?:prompt|message|reminder))?>|\[system(?: message)?\](?::|$)",
            ),
        ),
        "fake_call": (
            _phrase(
                "<tool_ <function_call <invoke <|tool_call <|python_tag|>",
                r"<(?:tool_(?:call|use)>|function_calls?>|invoke name=|\|)",
            ),
            _phrase(
                'name" name\' tool" tool\' function"',
                rf"\w{{4,8}}[\"']\s{{0,4}}:\s{{0,4}}[\"'](?:functions\.)?(?:{_NAMES})[\"']\s{{0,4}},\s{{0,8}}"
                r"[\"'](?:arguments|args|parameters|input)[\"']",
            ),
            _phrase("<", rf"<(?:{_NAMES})>"),
        ),
    }
)

OTHER_SCRIPTS: Mapping[Kind, tuple[Phrase, ...]] = MappingProxyType(
    {
        "override": (
            _phrase(
                "忽略 无视 無視 忘记 忘掉 不要理会 忽視",
                "(?:忽略|无视|無視|忘记|忘掉|不要理会|忽視).{0,8}?(?:之前|以上|先前|前面|上述|此前|前述|上面).{0,8}?(?:指令|指示|提示|说明|命令|說明)",
            ),
            _phrase(
                "の",
                "(?:以前|これまで|上記|前|以上|先)の.{0,8}?(?:指示|命令|プロンプト|指令).{0,6}?(?:無視|忘れ)",
                5,
            ),
            _phrase(
                "이전 위의 앞의 지금까지의",
                "(?:이전|위의|앞의|지금까지의).{0,8}?(?:지시|명령|지침|프롬프트).{0,8}?(?:무시|잊)",
            ),
            _phrase(
                "гнорир абудь",
                "(?:гнорир|абудь).{0,30}?(?:предыдущ|прежн|выше|ранее).{0,24}?(?:инструкц|указани|команд|приказ)",
            ),
            _phrase("تجاهل", "تجاهل.{0,12}?(?:التعليمات|الأوامر).{0,8}?(?:السابقة|أعلاه)"),
            _phrase("पिछल", "पिछल.{0,14}?(?:निर्देश|आदेश).{0,20}?(?:अनदेखा|भूल)"),
        ),
    }
)

# Letters of other scripts that are drawn like ours.
LOOKALIKES: Mapping[str, str] = MappingProxyType(
    dict(
        zip(
            "авекмнорстухіїѕјԁԍһⅼոսցօɑɡıɩʟαβεηικνορτυχωɪɢɴᴏʀᴇᴘᴠᴜᴀʙᴄᴅꜰʜᴊᴋᴍꜱᴛᴡʏᴢ",
            "abekmhopctyxiisjdghlnugoagiilabenikvoptuxwignorepvuabcdfhjkmstwyz",
            strict=True,
        )
    )
)
