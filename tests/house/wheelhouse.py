"""The wheel of the checkout, and around it those that this environment was installed from."""

import sys
from importlib.metadata import Distribution, distribution
from pathlib import Path
from zipfile import ZipFile

from tests.house.test_dependencies import closure
from tests.house.tree import PROJECT, ran


def built(folder: Path) -> Path:
    """Build the wheel from the checkout, without a network, and return its path."""
    ran(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder)
    (wheel,) = folder.glob("*.whl")
    return wheel


def fill(folder: Path) -> None:
    """Write wheels of the base dependencies, and of pip, as they are installed here."""
    for name in closure([*PROJECT["project"]["dependencies"], "pip"]):
        packed(distribution(name), folder)


def packed(found: Distribution, folder: Path) -> Path:
    """Write the wheel of a distribution anew, of the files that it brought; return its path.

    Commands are left out, since whoever installs it makes them.
    """
    stated = (found.read_text("WHEEL") or "").splitlines()
    tags = [line.removeprefix("Tag: ").split("-") for line in stated if line.startswith("Tag: ")]
    tag = "-".join(".".join(dict.fromkeys(each)) for each in zip(*tags, strict=True))
    path = folder / f"{found.name.replace('-', '_')}-{found.version}-{tag}.whl"
    with ZipFile(path, "w") as wheel:
        for file in found.files or ():
            if ".." not in file.parts and file.suffix != ".pyc":
                wheel.write(str(file.locate()), str(file))
    return path
