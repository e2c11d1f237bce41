"""`reticent lab paper`: the paper's results on a model, as figures beside what was published."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypedDict, Unpack

import click

from agent.cli.extras import extra
from agent.cli.folders import folder_for
from agent.cli.layout import paragraph
from agent.cli.options import PATH, json_option, record, seed_option
from agent.cli.progress import Progress
from agent.errors import UsageError
from agent.lab.paper.published import SAMPLES, Options
from agent.lab.questions.survey import TRADE_OFF
from agent.model.shipped import shipped_model

if TYPE_CHECKING:
    from agent.lab.paper.subject import Places


class PaperFlags(TypedDict):
    """The options of `reticent lab paper`, as click hands them over."""

    model: Path | None
    survey: bool
    log: Path | None
    out: Path
    trade_off: float
    samples: int
    seed: int
    processes: int
    as_json: bool


@click.command()
@click.option("--model", type=PATH, metavar="M", help="A model file.")
@click.option("--survey", is_flag=True, help="The model that comes with reticent; the default.")
@click.option("--log", type=PATH, metavar="DIR", help="A log, as of `reticent lab synth`.")
@click.option("--out", required=True, type=PATH, metavar="DIR", help="Where to write.")
@click.option(
    *("--lambda", "trade_off"),
    type=click.FloatRange(min=0, max=1e9),
    default=TRADE_OFF,
    show_default=True,
    help="Of the calibrated objective.",
)
@click.option(
    "--samples",
    type=click.IntRange(min=1, max=1_000_000),
    default=SAMPLES,
    show_default=True,
    metavar="N",
    help="Rows, and people, in a sample.",
)
@seed_option
@click.option(
    "--processes",
    type=click.IntRange(min=1, max=2),
    default=2,
    show_default=True,
    help="One, or one per estimator.",
)
@json_option
def paper(**flags: Unpack[PaperFlags]) -> None:
    """Draw the results of Krause and Horvitz (2010), section 7, from a model or a log.

    Writes each figure as PNG, SVG and CSV, and report.md, which sets what was published beside
    what is found here. Takes minutes. Needs the extra `lab`, and --log the extra `build` too.
    """
    if sum([flags["model"] is not None, flags["survey"], flags["log"] is not None]) > 1:
        raise UsageError("the figures are of one thing", "give --model, --survey or --log")
    with extra("lab", "drawing figures"):
        from agent.lab.drawing import write_report
        from agent.lab.paper.study import study
        from agent.lab.paper.subject import Material
    folder = folder_for(flags["out"])
    options = Options(trade_off=flags["trade_off"], samples=flags["samples"], seed=flags["seed"])
    with Progress() as progress:
        material = Material(*_material(flags, folder, progress))
        found = study(material, options, flags["processes"], progress)
        progress("drawing", 1.0)
        page = write_report(found.title, found.intro, found.findings, folder)
    claims = [claim for finding in found.findings for claim in finding.claims]
    same = sum(claim.same is True for claim in claims)
    other = sum(claim.same is False for claim in claims)
    if flags["as_json"]:
        figures = [finding.chart.name for finding in found.findings]
        click.echo(record({"report": str(page), "figures": figures, "same": same, "other": other}))
        return
    click.echo(
        paragraph(
            f"Wrote {page} and {len(found.findings)} figures. Of the published results, {same} "
            f"have the same shape here, and {other} another; the report says why."
        )
    )


def _material(flags: PaperFlags, folder: Path, progress: Progress) -> tuple[Path, Places | None]:
    """Return the file of the model, and of a log, which is built here, the places too."""
    if flags["log"] is not None:
        with extra("build", "building a model"):
            from agent.lab.paper.log import logged

        return logged(flags["log"], folder, progress)
    return flags["model"] or shipped_model(), None
