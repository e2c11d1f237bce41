"""What a recipient could infer of guarded attributes from what it holds. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent.decision.request import Knowledge
from agent.model.model import Model
from agent.tradeoff.anonymity_set import FEWEST

Codes = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Inference:
    """How much what is held tells of one guarded attribute, over the people who specify it.

    ``bits``: H(V) - H(V|d), below 0 where it is less certain than before; ``bits_in_all``: H(V);
    ``best_guess``: max P(v|d), ``by_chance``: max P(v). With fewer than 30 people who agree with
    d the model cannot say: then ``bits`` and ``best_guess`` are 0, as no best guess is else.
    """

    name: str
    bits: float
    bits_in_all: float
    best_guess: float
    by_chance: float


def inferred(
    guarded: Sequence[str], knowledge: Knowledge | None, model: Model
) -> tuple[Inference, ...]:
    """Return what is told of each guarded attribute; it is the same for all who agree with d.

    ``guarded``: names of person attributes; ``knowledge``: None where it has a value that the
    model does not have, so that nobody agrees. UsageError for a name that the model has not.
    Source: DESIGN.md 2.2.
    """
    codes = None if knowledge is None else knowledge.codes
    return tuple(_remembered(name, codes, model) for name in guarded)


def _remembered(name: str, codes: Codes | None, model: Model) -> Inference:
    return model.remember((inferred, name, codes), lambda: _inference(name, codes, model))


def _inference(name: str, codes: Codes | None, model: Model) -> Inference:
    index = model.index(name)
    before = model.crowd().doubt(index)
    by_all = Inference(name, 0.0, before.bits, 0.0, before.best_guess)
    if codes is None:
        return by_all
    after = model.crowd((model.index(each), code) for each, code in codes).doubt(index)
    if after.people < FEWEST:
        return by_all
    return Inference(
        name, before.bits - after.bits, before.bits, after.best_guess, before.best_guess
    )
