"""A text loses its wrapping, and nothing of the request in it."""

import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from agent.model.unwrapping import SHORT, unwrapped

DOCUMENT = "\n\n".join(
    f"Section {number}. The parties agree that the deposit lies in an account of its own until the"
    " lease ends, and that both sign for it."
    for number in range(5)
)
CODE = "```python\ndef area(r):\n    return r * r\n```"
ENVIRONMENT = (
    "<environment_details>\n# VSCode Visible Files\nsrc/main.py\n\n# Current Time\n11/27/2026\n"
    "</environment_details>"
)
WRAPPED = {
    **tomllib.loads(Path(__file__).with_name("unwrapped.toml").read_text(encoding="utf-8")),
    f"<attached_files>\n{CODE}\n</attached_files>\n<user_query>sort it</user_query>": "sort it",
    f"[ERROR] no tool was used\n\n<feedback>use less</feedback>\n{ENVIRONMENT}": "use less",
    f"{CODE}\nexplain": "explain",
    "cluster headache  site:nhs.uk filetype:pdf": "cluster headache",
    f"Summarise this lease for me:\n\n{DOCUMENT}": "Summarise this lease for me:",
    f"Lease:\n\n{DOCUMENT}\n\nwhen do I get it back?\n\n{DOCUMENT}": "when do I get it back?",
    f"{DOCUMENT}\n\nHi, can I be made to leave? Thanks!": "can I be made to leave?",
    DOCUMENT: DOCUMENT,
}


@pytest.mark.parametrize(("text", "request_alone"), WRAPPED.items())
def test_examples(text: str, request_alone: str) -> None:
    """Of each kind of wrapping one, and of what only looks like it."""
    assert unwrapped(text) == request_alone


WORDS = st.from_regex(r"[b-df-gj-np-rtv-z]{3,9}", fullmatch=True)
QUESTIONS = st.lists(WORDS, min_size=1, max_size=8).map(lambda words: " ".join(["how", *words]))
WRAPPERS = {
    "template": lambda text: f"{ENVIRONMENT}<user_query>{text}</user_query>",
    "task": lambda text: f"<task>\n{text}\n</task>\n{ENVIRONMENT}",
    "reminder": lambda text: f"<system-reminder>Be kind?</system-reminder>\n{text}",
    "greeting": lambda text: f"Hi there, {text}",
    "thanks": lambda text: f"{text}\nThanks in advance!",
    "site": lambda text: f"site:example.com {text}",
    "quotes": lambda text: f"“{text}”",
    "manner": lambda text: f"Answer in German: {text}",
    "code": lambda text: f"{text}\n{CODE}",
    "document": lambda text: f"{DOCUMENT}\n\n{text}",
}


@given(QUESTIONS)
def test_a_plain_question_stays_as_it_is(text: str) -> None:
    """Nor does white space around it count."""
    assert unwrapped(text) == text
    assert unwrapped(f"\n {text}\t") == text
    assert unwrapped(f"{text}?") == f"{text}?"


@given(QUESTIONS, st.lists(st.sampled_from([*WRAPPERS]), max_size=4))
def test_whatever_is_wrapped_around_a_question_goes(text: str, names: list[str]) -> None:
    """In any order; a quoted text is one that has no others quoted in it."""
    whole = text
    for name in names:
        whole = WRAPPERS[name](whole)
    assume(names.count("quotes") < 2)
    assert unwrapped(whole) == text


PIECES = [
    *("<task>", "</task>", "<a_b>", "</a_b>", "<a_b x>", "<user_query>", "</user_query>", "<", ">"),
    *("/", "```", "`", "\n", "\n\n", " ", "hi", ", ", "!", "thanks", ".", "?", "site:a", "site:"),
    *("-", ":", '"', "“", "”", "„", "'", "answer in german", "auf deutsch", "how", "word", "Q"),
    *("x" * SHORT, "." * SHORT, "(", ")", "ß"),
]
JUMBLES = st.lists(st.sampled_from(PIECES), max_size=14).map("".join)


@given(JUMBLES | st.text(max_size=60))
@example("<task <a_b></a_b>>x")
@example("```" + "\n``" + "```" + "\n`x")
def test_nothing_is_taken_twice_or_to_the_last_word(text: str) -> None:
    """Idempotent; words stay where there are some; what stays was there, in its order."""
    once = unwrapped(text)
    assert unwrapped(once) == once
    assert bool(re.search(r"[^\W_]", text)) == bool(re.search(r"[^\W_]", once))
    characters = iter(text)
    assert all(each in characters for each in re.sub(r"\s", "", once))


HOSTILE = ["<task>", "<a_b>", "<a_b ", "<" + "a_" * 50, "</a_b>", "<task></task>", "```", "``", "„"]
HOSTILE += ["\n \n", "\n", '"', "hi, ", "Q: ", "thanks.", " site:a", "site:"]
HOSTILE += ["how?\n\n", "( ", "ok "]


@pytest.mark.parametrize("piece", HOSTILE)
def test_long_texts_take_time_in_proportion(piece: str) -> None:
    """A page may send anything; a step back over the text for each piece would take minutes."""
    once = unwrapped(piece * (200_000 // len(piece)) + " end")
    assert once
