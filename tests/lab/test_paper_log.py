"""From a log: its model, and where its people ask from."""

from pathlib import Path

import pytest

from agent.errors import UsageError
from agent.lab.paper import orders
from agent.lab.paper.log import MODEL, logged
from agent.lab.paper.survey import default_sensitivities, within_outcomes
from agent.model.file import read
from tests.lab.worlds import quiet

PEOPLE = 40  # as many as a query wants, and some more
LOG = "user,asked,query,time,host,dwell,zip,city,country,tld"
REGIONS = ("us_canada", "europe")


# Ibis 12 calls what DuckDB 2 has renamed.
pytestmark = pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")


def write_log(folder: Path, source: str = "# Synthetic\n\nNobody asked.\n") -> None:
    """Write a log of one query: what people want is what their region wants, by city and zip."""
    lines = [LOG]
    for number in range(PEOPLE):
        at = f"2006-05-03 {8 + number % 9:02}:00"
        place = f"z{number // 4},c{number // 10},{'US' if number < 20 else 'DE'},com"
        lines.append(f"u{number},{at}:00,Weather,{at}:05,{'ab'[number // 20]}.org,60,{place}")
        if number % 10 == 0:  # asked once from elsewhere, which is not where they live
            lines.append(f"u{number},{at}:30,weather,{at}:35,b.org,40,elsewhere,c9,US,com")
            lines.append(f"u{number},{at}:40,weather,{at}:45,b.org,40,{place}")
    (folder / "log.csv").write_text("\n".join(lines) + "\n")
    people = [f"u{number},female,{REGIONS[number // 20]}" for number in range(PEOPLE)]
    (folder / "people.csv").write_text("\n".join(["user,gender,region", *people]) + "\n")
    (folder / "sites.csv").write_text("host,topic\na.org,news\nb.org,sports\n")
    (folder / "SOURCE.md").write_text(source)


def test_a_log_becomes_the_papers_model_and_the_costs_of_its_places(tmp_path: Path) -> None:
    """Its estimator, the default sensitivities, and that it is synthetic.

    There are two regions, two countries, four cities and ten zip codes: maxprob counts the classes.
    """
    log, out = tmp_path / "log", tmp_path / "out"
    log.mkdir()
    out.mkdir()
    write_log(log)
    path, places = logged(log, out, quiet)
    assert path == out / MODEL
    model = read(path)
    assert (model.estimator, model.source) == ("plugin", "Synthetic: log")
    bits = {each.name: each.sensitivity for each in model.attributes if each.sensitivity}
    expected = default_sensitivities([each.name for each in model.attributes], within_outcomes())
    assert bits == pytest.approx({name: value for name, value in expected.items() if value})
    classes = {"region": 2, "country": 2, "city": 4, "zip code": 10}
    assert places == pytest.approx({n: (k - 1) / PEOPLE for n, k in classes.items()})
    assert [*places] == [*classes]


def test_a_folder_needs_all_three_tables(tmp_path: Path) -> None:
    """The first that is missing is named."""
    write_log(tmp_path)
    (tmp_path / "people.csv").unlink()
    with pytest.raises(UsageError, match="no table people"):
        logged(tmp_path, tmp_path, quiet)


def test_a_folder_without_a_source_is_called_by_its_name(tmp_path: Path) -> None:
    """Nothing else is known of it."""
    write_log(tmp_path, "no heading")
    path, _ = logged(tmp_path, tmp_path, quiet)
    assert read(path).source == tmp_path.name


def test_calibration_finds_the_lambda_that_answers_were_made_with() -> None:
    """Through five levels and four improvements; the page says that they are made."""
    costs = {"region": 0.01, "country": 0.05, "city": 0.1, "zip code": 0.2}
    found = orders.calibrated(costs, 0)
    assert found.trade_off == pytest.approx(5.12, rel=orders.WITHIN)
    page = orders.calibration_finding(found, "Data: a log.")
    assert "made" in page.chart.note
    assert [each.same for each in page.claims] == [None]
