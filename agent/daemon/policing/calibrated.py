"""From a person's answers to prices, and into the policy. Source: paper 7.2."""

import tomllib
from collections.abc import Mapping
from datetime import datetime
from math import isfinite
from pathlib import Path

from msgspec.structs import asdict

from agent.daemon.agent import Agent
from agent.daemon.policing.chosen import model_for
from agent.daemon.policing.rewriting import rewrite
from agent.decision.calibration import METRIC, Calibration, answers_of, calibrated
from agent.errors import UsageError
from agent.wire.what_if import Calibrate, Calibrated, Pair
from policy.edit import Value, with_attribute, with_setting
from policy.hosts import ANYBODY
from policy.rules import Policy

DIGITS = 4  # of a number that is written: answers on a scale of five are no more exact


def calibration(asked: Calibrate, now: datetime, agent: Agent) -> Calibrated:
    """Return what answers come to, about the model for recipients without rules of their own.

    UsageError for what nobody asked, and where it is to be written and cannot be; then nothing is.
    ModelError where that model must not be used.
    """
    model = model_for(ANYBODY, "", now, agent)
    found = calibrated([answers_of(asdict(each), model) for each in asked.answers], model)
    if asked.write:
        into_policy(agent.rules.path, found)
    return message(found, written=asked.write)


def message(found: Calibration, *, written: bool = False) -> Calibrated:
    """Return a calibration as it is told: null for what is never shared, and where nothing fits."""
    fit = found.fit
    return Calibrated(
        people=found.people,
        trade_off=None if fit is None else fit.trade_off,
        metric=METRIC,
        source=found.source,
        rms_residual_bits=None if fit is None else fit.error,
        pairs=[
            Pair(
                name=pair.name,
                identifiability=pair.cost,
                wanted_bits=_finite(pair.bits),
                residual_bits=None if fit is None else _finite(float(fit.residuals[place])),
            )
            for place, pair in enumerate(found.pairs)
        ],
        sensitivity={name: _finite(bits) for name, bits in found.sensitivity.items()},
        written=written,
    )


def into_policy(path: Path, found: Calibration) -> None:
    """Write a calibration into a policy file; UsageError, and the file as it was, as `changed`."""
    rewrite(path, lambda text, policy: changed(text, policy, found))


def changed(text: str, policy: Policy, found: Calibration) -> str:
    """Return the text of a policy with a calibration in it, and all else as it was.

    UsageError where the policy measures being recognised in another unit than λ was fitted to,
    and where what it says of an attribute will expire.
    """
    if found.fit is not None:
        _check_unit(policy)
        text = with_setting(text, "lambda", _rounded(found.fit.trade_off))
    entries = tomllib.loads(text).get("attributes", {})
    for name, bits in found.sensitivity.items():
        text = with_attribute(text, name, _entry(name, entries.get(name, {}), bits))
    return text


def _check_unit(policy: Policy) -> None:
    other = {str(rule.settings.get("cost", METRIC)) for rule in policy.rules} - {METRIC}
    if other:
        what = f"the policy has the cost {min(other)!r}, and λ was fitted to {METRIC!r}"
        raise UsageError(what, "take that line out, or write λ by hand", policy.source)


def _entry(name: str, entry: str | Mapping[str, Value], bits: float) -> dict[str, Value]:
    """Return what `[attributes]` shall say of one attribute; what is ruled never stays so."""
    said: dict[str, Value] = {"disclose": entry} if isinstance(entry, str) else dict(entry)
    if "expires" in said:
        what = f"what the policy says of {name} expires, and a sensitivity does not"
        raise UsageError(what, "give what expires a [[rule]] of its own")
    if not isfinite(bits):
        return {**said, "disclose": "never"}
    return {**said, "sensitivity": _rounded(bits)}


def _rounded(number: float) -> float:
    return float(f"{number:.{DIGITS}g}")


def _finite(number: float) -> float | None:
    return number if isfinite(number) else None
