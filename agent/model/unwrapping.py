"""A text without its wrapping: the request itself (DESIGN 2.9).

Assistants put what their user asks into templates, beside files, dates and reminders; people
greet, thank, quote, paste whole documents, and narrow a search to one site. None of it says what
the request is about.
"""

import re
from collections.abc import Iterator
from functools import partial

SHORT = 400  # characters; a longer text of several paragraphs has a document in it

_WORD = re.compile(r"[^\W_]")
# What templates call the words of the person who asks, and what stands beside them. Names with an
# underscore, a hyphen or an inner capital are of templates; those of HTML and JSX are not in here.
_REQUEST = r"(?i:(?:(?:user|current|latest|original)[_-]?)?(?:query|request|question|prompt|task)"
_REQUEST += r"|user[_-]?(?:message|input)|feedback|answer)"
_BESIDE = r"(?i:contexts?|documents?|files?|attachments?|selection|instructions|memory|memories)"
_BESIDE += r"|[A-Za-z]+_\w*|[a-z]+(?:-[a-z]+)*-(?:reminder|context|details|info|message|stdout)"
_BESIDE += r"|[a-z]+[A-Z]\w*"
_TAG = re.compile(rf"<(/?)((?P<request>{_REQUEST})|{_BESIDE})(?:[ \t][^<>\n]*)?>")
_BREAK = re.compile(r"\n\s*\n")
_OPERATOR = r"-?(?:(?:site|filetype|inurl|intitle|cache):\S+|(?:before|after):\d\S*)[ \t]*"
_OPERATORS = re.compile(rf"(?<!\S){_OPERATOR}", re.IGNORECASE)
_ASKS = re.compile(
    r"[?？؟](?!\w)|\A(?:how|wh(?:at|ich|o|om|ose|ere|en|y)|is|are|am|was|were|do|does|did|has|have"
    r"|can|could|will|would|should|may|might|shall|please|give|show|tell|find|get|(?:re)?write|make"
    r"|create|suggest|recommend|explain|summari[sz]e|translate|fix|help|list|compare|plan|draft"
    r"|edit|improve|check|answer|reply|convert|describe|proofread|i (?:need|want)|i'[dm])\b",
    re.IGNORECASE,
)
_QUOTES = {'"': '"', "“": "”", "„": "“", "«": "»", "'": "'", "‘": "’", "`": "`"}
_LANGUAGE = r"(?:arabic|chinese|dutch|english|french|german|italian|japanese|korean|polish"
_LANGUAGE += r"|portuguese|russian|spanish|thai|turkish)"
_MANNER = (  # how to answer
    r"(?:(?:please )?(?:answer|reply|respond|write)(?: to)?(?: me| this| it)?"
    rf" in (?:short|brief|detail|one (?:word|line|sentence)|a few words|(?:plain )?{_LANGUAGE})"
    rf"(?: only)?(?:,? please)?|in {_LANGUAGE},? please|(?:short|one word) answer(?: only)?"
    r"|(?:bitte )?(?:antworte )?(?:bitte )?auf deutsch(?: bitte)?"
    r"|(?:réponds |répondez )?en français|(?:responde |contesta )?en español)"
)
_GREETING = (
    r"(?:hi|hiya|hello|hey|heya|hallo|hola|bonjour|ciao|moin|servus|greetings|dear|alexa|siri"
    r"|guten (?:tag|morgen|abend)|good (?:morning|afternoon|evening|day)|ok(?:ay)? google)"
    r"(?: (?:there|all|everyone|everybody|folks|guys|team|again|chatgpt|gpt|claude|gemini|copilot"
    r"|assistant|ai|bot|google|siri|alexa|cortana|zusammen)){0,2}"
)
_BEGINS = re.compile(
    rf"{_GREETING}(?:\s*[,!.:;\n–—]\s*|\s-\s|\s+(?=(?:i|im|can|could|what|whats|how|hows|is|are|do"
    r"|does|did|would|who|where|when|why|which|should|please|pls|quick|so)\b))"
    r"|(?:(?:quick|simple|silly|dumb|random) )?(?:question|query|q|one|user|me|prompt|request|task)"
    rf"\s*:\s*|{_MANNER}\s*[:.,;!\n]\s*|{_OPERATOR}",
    re.IGNORECASE,
)
_ENDS = re.compile(
    r"(?:[,;]\s*|(?<=[?.!)\n]) ?)\(?(?:(?:many )?thanks?(?: you)?"
    r"(?: (?:so|very) much| a lot| a (?:bunch|million|ton)| in advance)*"
    rf"|thx|ty|cheers|danke(?: schön| dir)?|merci|gracias|{_MANNER})\)?[.!]*\Z",
    re.IGNORECASE,
)
_LONGEST_END = 60  # characters of what _ENDS matches, and what stands before it


def unwrapped(text: str) -> str:
    """The request in a text, less what is wrapped around it; in linear time.

    That is: in a template the words of the person who asks, without elements beside them; without
    blocks of code; without operators of a search (``site:``); of a text with a document in it the
    paragraph that asks; without a greeting, thanks, quotation marks around all of it, and
    "answer in German". White space around it goes too, and all else stays. A part goes only where
    words are left. Idempotent.
    """
    without_operators = partial(_OPERATORS.sub, "")
    for step in (_of_template, _without_code, without_operators, _trimmed, _of_document):
        shorter = step(text)
        if _WORD.search(shorter):
            text = shorter
    return text.strip()


def _of_template(text: str) -> str:
    """The last request that a template marks, or the text, without elements beside it."""
    opening, request = None, text
    for tag in _TAG.finditer(text):
        if opening and tag[1] and tag[2].lower() == opening[2].lower():
            inside, opening = text[opening.end() : tag.start()], None
            request = inside if _WORD.search(_TAG.sub("", inside)) else request
        elif tag["request"] and not tag[1]:
            opening = tag
    outside, start = [], 0
    for begin, end in _elements(request):
        outside.append(request[start:begin])
        start = end
    rest = _TAG.sub("\n\n", "\n\n".join([*outside, request[start:]]))
    return rest if _WORD.search(rest) else _TAG.sub("\n\n", request)


def _elements(text: str) -> Iterator[tuple[int, int]]:
    """Where the elements of a template begin and end that lie in no other."""
    tags = [*_TAG.finditer(text)]
    last = {tag[2].lower(): tag.start() for tag in tags if tag[1]}
    opening = None
    for tag in tags:
        name = tag[2].lower()
        if opening is None and not tag[1] and last.get(name, 0) > tag.start():
            opening = tag
        elif opening and tag[1] and name == opening[2].lower():
            yield opening.start(), tag.end()
            opening = None


def _without_code(text: str) -> str:
    """The text without blocks of code; code within a line stays, without its marks."""
    parts = text.split("```")
    blocks = ("\n\n" if "\n" in each else f" {each} " for each in parts[1::2])
    outside = "".join(map("".join, zip(parts[::2], [*blocks, ""], strict=False)))
    return outside if _WORD.search(outside) else "\n".join(parts)


def _of_document(text: str) -> str:
    """Of a long text the paragraph that asks: the last, the first, or the last of the others."""
    paragraphs = [_trimmed(each) for each in _BREAK.split(text) if _WORD.search(each)]
    if len(text) <= SHORT or len(paragraphs) < 2:  # noqa: PLR2004  (to choose from)
        return text
    first, *others, last = paragraphs
    return next(filter(_ASKS.search, (last, first, *reversed(others))), text)


def _trimmed(text: str) -> str:
    """The text without what is said around a request, at its beginning and its end."""
    begin, end = 0, len(text)
    while True:
        while begin < end and text[begin].isspace():
            begin += 1
        while begin < end and text[end - 1].isspace():
            end -= 1
        if end - begin > 1 and _QUOTES.get(text[begin]) == text[end - 1]:
            marks = {text[begin], text[end - 1]}
            if not any(text.find(mark, begin + 1, end - 1) >= 0 for mark in marks):
                begin, end = begin + 1, end - 1
                continue
        head = _BEGINS.match(text, begin, end)
        if head and _WORD.search(text, head.end(), end):
            begin = head.end()
            continue
        tail = _ENDS.search(text, max(begin, end - _LONGEST_END), end)
        if tail and _WORD.search(text, begin, tail.start()):
            end = tail.start()
            continue
        return text[begin:end]
