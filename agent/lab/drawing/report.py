"""report.md: every figure, and each published result beside ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent.lab.charts import Claim, Finding

HEAD = ("| section | published | here | same shape | why |", "| --- | --- | --- | --- | --- |")
OVERVIEW = ("| figure | same | another | cannot be said |", "| --- | --- | --- | --- |")
WORDS = {True: "yes", False: "no", None: "cannot be said"}


def report(title: str, intro: Sequence[str], findings: Sequence[Finding]) -> str:
    """Return the page in Markdown; the pictures lie beside it under their charts' names."""
    lines = [f"# {title}", ""]
    for each in intro:
        lines += [each, ""]
    lines += _overview([each for each in findings if each.claims])
    for finding in findings:
        lines += _section(finding)
    return "\n".join(lines)


def _overview(findings: Sequence[Finding]) -> list[str]:
    """Return how many published results each figure has here, and how many it has not."""
    if not findings:
        return []
    counts = [
        [sum(each.same is same for each in finding.claims) for same in WORDS]
        for finding in findings
    ]
    same, other, _ = (sum(column) for column in zip(*counts, strict=True))
    rows = [
        f"| {finding.chart.title} | {' | '.join(map(str, row))} |"
        for finding, row in zip(findings, counts, strict=True)
    ]
    return [
        f"Published results with the same shape here: {same}; with another: {other}.",
        "",
        *OVERVIEW,
        *rows,
        "",
    ]


def _section(finding: Finding) -> list[str]:
    chart = finding.chart
    lines = [f"## {chart.title}", "", f"![{chart.title}]({chart.name}.png)", ""]
    files = f"[SVG]({chart.name}.svg), [numbers]({chart.name}.csv)"
    lines += [f"{chart.note} {files}", ""]
    for each in finding.text:
        lines += [each, ""]
    if finding.claims:
        lines += [*HEAD, *map(_row, finding.claims), ""]
    return lines


def _row(claim: Claim) -> str:
    cells = (claim.place, claim.published, claim.ours, WORDS[claim.same], claim.why)
    return "| " + " | ".join(each.replace("|", "\\|") for each in cells) + " |"
