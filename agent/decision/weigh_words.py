"""What was weighed in one plain sentence."""

from agent.decision.decision import Decision, Figures
from agent.decision.phrases import bits, listed, people
from agent.decision.weigh import Weighing
from agent.decision.words import headline

UNHEARD = "nothing says what it brings"


def difference(decision: Decision, weighing: Weighing, *, past: bool) -> str:
    """Return what another set would change; ``past``: about one that was disclosed already.

    Where nothing is changed it says what leaves, or left.
    """
    chosen, weighed = weighing.chosen, weighing.weighed
    added = [name for name in weighed.names if name not in chosen.names]
    dropped = [name for name in chosen.names if name not in weighed.names]
    if not added and not dropped:
        return _carried(weighing) if past else headline(decision)
    parts = [f"with {listed(added)}"] if added else []
    parts += [f"without {listed(dropped)}"] if dropped else []
    change = ", and ".join(parts)
    limit = f"; that breaks the limit {weighed.breaks}" if weighed.breaks else ""
    return f"{change.capitalize()}: {_more(weighing)}, and {_left(weighing)}{limit}."


def _carried(weighing: Weighing) -> str:
    """Return what was disclosed, and what it means by the model and the rules of today."""
    chosen = weighing.chosen
    if not chosen.names:
        return "It carried nothing that the model has."
    gain = f"{bits(chosen.figures.utility)} bits better served" if weighing.informed else UNHEARD
    today = f"by today's rules {gain}, and {_alike(chosen.figures)}"
    return f"It carried {listed(chosen.names)}: {today}."


def _more(weighing: Weighing) -> str:
    if not weighing.informed:
        return UNHEARD
    more = weighing.weighed.figures.utility - weighing.chosen.figures.utility
    return f"{bits(more, signed=True)} bits"


def _left(weighing: Weighing) -> str:
    """Return who looks alike with the change, beside who would without it."""
    chosen, weighed = weighing.chosen.figures, weighing.weighed.figures
    before, after = people(chosen.people_left), people(weighed.people_left)
    return _alike(weighed) + (", as before" if before == after else f", in place of {before}")


def _alike(figures: Figures) -> str:
    left, before = people(figures.people_left), people(figures.people)
    return (
        f"{f'all {before}' if left == before else f'about {left} of {before}'} people look like you"
    )
