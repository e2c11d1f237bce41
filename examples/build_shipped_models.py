"""Build the models that come with Reticent, each from the tables in its folder of examples/data.

    python -m examples.build_shipped_models [FOLDER]

Needs the extra `build`. The same tables give the same bytes. `reticent model build --describe
examples/data/so2017/model.toml --users ... --events ... --phrasings ... --background ...` does the
same for one of them.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from agent.build.build import build_model
from agent.build.options import BuildOptions, read_description
from agent.model.file import SHIPPED, SUFFIX, shipped_model, write
from examples.phrasings import PHRASINGS, write_background

DATA = Path(__file__).parent / "data"


def options_of(name: str, folder: Path) -> BuildOptions:
    """Find what the model of a name is built from; texts of other topics go to a folder."""
    described = read_description(DATA / name / "model.toml")
    if described.topics is not None:  # the base of its people is the Time Use Survey
        return BuildOptions(users=DATA / "atus" / "users.csv.gz", description=described)
    background = folder / f"{name}.csv"
    write_background(background)
    return BuildOptions(
        users=DATA / name / "users.csv.gz",
        events=DATA / name / "events.csv.gz",
        phrasings=PHRASINGS,
        background=background,
        description=described,
    )


def main(folder: Path) -> None:
    """Build the models and write them to a folder, which is made where it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in SHIPPED:
        path = folder / f"{name}{SUFFIX}"
        with TemporaryDirectory() as texts:
            built = write(build_model(options_of(name, Path(texts)), _tell), path)
        print(f"{path}: digest {built.digest}")
        print(dict(built.validation))


def _tell(what: str, share: float) -> None:
    if share in {0.0, 1.0}:
        print(f"{what}: {share:.0%}", file=sys.stderr)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else shipped_model().parent)
