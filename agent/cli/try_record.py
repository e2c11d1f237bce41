"""A replayed history as one JSON object; the keys are an interface, so they only ever grow."""

from typing import Any

from agent.cli.tried import Tried
from agent.decision.compared import Counts, Outcome, Shares


def try_record(tried: Tried) -> dict[str, Any]:
    """Return a replayed history in JSON's own types."""
    return {
        "requests": [_request(outcome) for outcome in tried.outcomes],
        "summary": _summary(tried),
    }


def _request(outcome: Outcome) -> dict[str, Any]:
    past = outcome.past
    return {
        "at": past.at.isoformat(),
        "recipient": past.recipient,
        "host": outcome.host,
        "pool": outcome.pool,
        "query": past.query,
        "matched_query": outcome.matched_query,
        "bits_was": outcome.bits.was,
        "bits_would_be": outcome.bits.would_be,
        "people_left_was": outcome.people_left.was,
        "people_left_would_be": outcome.people_left.would_be,
        "newly_disclosed": _shares(outcome.newly_disclosed),
        "newly_withheld": _shares(outcome.newly_withheld),
        "would_have_asked": _shares(outcome.would_ask),
        "expected": outcome.expected,
    }


def _summary(tried: Tried) -> dict[str, Any]:
    summary, bits = tried.summary, tried.summary.bits
    return {
        "requests": summary.requests,
        "changed": summary.changed,
        "would_have_asked": summary.asking,
        "mean_bits_was": None if bits is None else bits.was,
        "mean_bits_would_be": None if bits is None else bits.would_be,
        "pools": [
            {
                "pool": each.pool,
                "requests": each.requests,
                "people_left_was": each.people_left.was,
                "people_left_would_be": each.people_left.would_be,
            }
            for each in summary.pools
        ],
        "newly_disclosed": _counts(summary.newly_disclosed),
        "newly_withheld": _counts(summary.newly_withheld),
        "expected": summary.expected,
        "worlds": len(tried.worlds.rows),
        "like_the_history": tried.worlds.alike,
        "sorted": tried.sorted,
    }


def _shares(shares: Shares) -> list[dict[str, Any]]:
    return [{"name": name, "share": share} for name, share in shares]


def _counts(counts: Counts) -> list[dict[str, Any]]:
    return [{"name": name, "requests": count} for name, count in counts]
