"""The pages of the service, as HTML. Whatever is put into one is escaped here."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING
from urllib.parse import quote_plus

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from examples.search_service.engine import Found, Placed
    from examples.search_service.texts import Entry, Question

NAME = "Everyday Search"


@dataclass(frozen=True, slots=True)
class View:
    """What a page of results shows.

    ``text``: as it was searched for; ``page``: the name of this page; ``told``: the value of each
    attribute that was told, by name; ``titles``: of every attribute, by name.
    """

    text: str
    found: Found
    page: str
    told: Mapping[str, str]
    titles: Mapping[str, str]


def home(questions: Sequence[Question], asks: str, source: str) -> str:
    """Write the first page; ``asks``: what is asked, and why; ``source``: of the data."""
    body = f"""<p class="lead">This is a small search service that runs on your own machine, over
{len(questions)} questions. It asks browsers for a few facts about who searches, and puts first what
people like that chose. Without any it ranks for everyone, and what it is told it forgets with the
page. There is nothing behind the results: their names are from the data, and a sentence each was
written for this example.</p>
{_ask(questions)}
<p class="note">{escape(asks)} {escape(source)}</p>"""
    return _whole(NAME, "", body)


def empty(questions: Sequence[Question], asks: str) -> str:
    """Write the search page before anything is searched for."""
    return _whole(NAME, "", f'{_ask(questions)}\n<p class="note">{escape(asks)}</p>')


def results(view: View, questions: Sequence[Question], asks: str) -> str:
    """Write the page of results; ``questions``: to offer where nothing is found."""
    found = view.found
    if found.question is None:
        heading, sentence = f"“{view.text}”", "Results with some of these words, the nearest first."
    else:
        heading, sentence = found.question.title, found.question.text
    if not found.placed:
        sentence = "Nothing is found. Try one of these."
    items = "\n".join(_item(each, view.page) for each in found.placed)
    body = f"""<h1>{escape(heading)}</h1>
<p class="lead">{escape(sentence)}</p>
{_ranked_for(view) if found.placed else ""}
<ol class="results">
{items}
</ol>
{"" if found.placed else _ask(questions)}
<p class="note">{escape(asks)}</p>"""
    return _whole(f"{view.text} - {NAME}", view.text, body)


def result(question: Question, entry: Entry, text: str) -> str:
    """Write the page of one result; ``text``: what was searched for, if anything."""
    back = escape(text or question.title)
    body = f"""<h1>{escape(entry.title)}</h1>
<p class="lead">{escape(entry.text)}</p>
<p class="note">One answer to: {escape(question.text or question.title)}</p>
<p><a href="/search?q={_parameter(text or question.name)}">Back to the results for {back}</a></p>"""
    return _whole(f"{entry.title} - {NAME}", text, body)


def problem(what: str) -> str:
    """Write a page that says what is wrong with a request."""
    return _whole(NAME, "", f'<h1>{escape(what)}</h1>\n<p><a href="/">To the first page</a></p>')


def _ranked_for(view: View) -> str:
    """Say for whom the results are ranked, and what was told in vain."""
    used = [_fact(view, name) for name in view.found.used]
    vain = [_fact(view, name) for name in view.told if name not in view.found.used]
    line = f"ranked for: {', '.join(used)}" if used else "ranked for everyone"
    shown = f'<p class="for{" told" if used else ""}">{line}</p>'
    if vain:
        shown += f'\n<p class="vain">told, but of no use here: {", ".join(vain)}</p>'
    return shown


def _fact(view: View, name: str) -> str:
    return f"{escape(view.titles[name])}: <b>{escape(view.told[name])}</b>"


def _item(placed: Placed, page: str) -> str:
    """Write one result, with how likely it is and how far it moved."""
    number = placed.number
    link = f'href="/result/{number}?page={escape(page)}" data-page="{escape(page)}"'
    share = "" if placed.probability is None else _share(placed.probability)
    return f"""<li>
<h2><a {link} data-result="{number}">{escape(placed.entry.title)}</a>{_moved(placed)}</h2>
<p>{escape(placed.entry.text)}</p>{share}
</li>"""


def _share(probability: float) -> str:
    meter = f'<meter max="1" value="{probability:.4f}"></meter>'
    percent = round(100 * probability)
    return f'\n<p class="share">{meter} {percent or "less than 1"} % of choices</p>'


def _moved(placed: Placed) -> str:
    """Say how many places a result is above or below the one that it has for everyone."""
    places = placed.plain - placed.rank
    if not places:
        return ""
    way, arrow = ("up", "▲") if places > 0 else ("down", "▼")
    title = f"{arrow} {abs(places)}"
    says = f"{abs(places)} {way}, from place {placed.plain} for everyone"
    return f' <span class="{way}" title="{says}" aria-label="{says}">{title}</span>'


def _ask(questions: Sequence[Question]) -> str:
    links = "\n".join(
        f'<li><a href="/search?q={_parameter(each.name)}">{escape(each.title)}</a></li>'
        for each in questions
    )
    return f'<ul class="ask">\n{links}\n</ul>'


def _parameter(text: str) -> str:
    return escape(quote_plus(text))


def _whole(title: str, text: str, body: str) -> str:
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{escape(title)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/style.css">
<script src="/chosen.js" defer></script>
</head>
<body>
<header>
<a class="name" href="/">{NAME}</a>
<form action="/search" role="search">
<input type="search" name="q" value="{escape(text)}" maxlength="200" aria-label="Search for">
<button>Search</button>
</form>
</header>
<main>
{body}
</main>
</body>
</html>
"""
