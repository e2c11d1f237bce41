"""A dependency has a reason, a lower bound and hashes; the wheel has what a user needs, once."""

import json
import re
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path
from zipfile import ZipFile

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from agent.daemon.programs import EXTENSION as SOURCE
from examples import write_share
from tests.house.tree import PROJECT, ROOT, ran
from tests.programs import needs

TEXT = (ROOT / ".ci/constraints.txt").read_text()
HASH = re.compile(r" --hash=sha256:[0-9a-f]{64}(?= |$)")
# Each pin with its hashes in one line, and the pins by name.
LINES = [each for each in re.sub(r" \\\n +", " ", TEXT).splitlines() if each[0] != "#"]
PINS = {canonicalize_name(line.split("==")[0]): Requirement(HASH.sub("", line)) for line in LINES}
SPARK = TEXT.partition("# spark")[2]  # `make test` does without it


def declared() -> Iterator[str]:
    """Yield every requirement of the base install and of the extras, as written."""
    yield from PROJECT["project"]["dependencies"]
    for extra in PROJECT["project"]["optional-dependencies"].values():
        yield from extra


def closure(wanted: list[str], extras: frozenset[str] = frozenset({""})) -> set[str]:
    """Return the names of what requirements bring to this machine, themselves among them."""
    names: set[str] = set()
    for requirement in map(Requirement, wanted):
        mark = requirement.marker
        if mark is None or any(mark.evaluate({"extra": extra}) for extra in extras):
            names.add(canonicalize_name(requirement.name))
            if f"\n{canonicalize_name(requirement.name)}==" in SPARK:
                continue
            needed = distribution(requirement.name).requires or []
            names |= closure(needed, frozenset({"", *requirement.extras}))
    return names


def test_a_dependency_says_why() -> None:
    """Who adds one explains it on the same line."""
    text = (ROOT / "pyproject.toml").read_text()
    for each in declared():
        assert re.search(rf'^    "{re.escape(each)}", +# \S', text, re.MULTILINE), each


def test_a_dependency_has_a_lower_bound_that_the_pin_meets() -> None:
    """What `make` installs is within what we declare, and so is all that it needs in turn."""
    for each in declared():
        wanted = Requirement(each)
        assert any(bound.operator == ">=" for bound in wanted.specifier), each
        (exact,) = PINS[canonicalize_name(wanted.name)].specifier
        assert exact.version in wanted.specifier, each
        assert closure([each]) <= PINS.keys(), each


def test_a_pin_is_one_exact_version_with_its_hashes() -> None:
    """From anywhere: no address of one machine's registry, no range, nothing without a hash."""
    assert [line for line in LINES if not HASH.search(line)] == []
    assert "://" not in TEXT
    assert len(PINS) == len(LINES)
    assert {bound.operator for pin in PINS.values() for bound in pin.specifier} == {"=="}
    assert all(len(pin.specifier) == 1 for pin in PINS.values())


def test_what_comes_from_npm_has_its_hash_too() -> None:
    """Exact versions, of no registry in particular, and nothing runs a script of its own."""
    wanted = json.loads((ROOT / ".ci/package.json").read_text())["devDependencies"]
    text = (ROOT / ".ci/package-lock.json").read_text()
    locked = json.loads(text)["packages"]
    assert locked.pop("")["devDependencies"] == wanted
    assert {name: locked[f"node_modules/{name}"]["version"] for name in wanted} == wanted
    assert [name for name, each in locked.items() if "sha512-" not in each["integrity"]] == []
    assert '"resolved"' not in text
    said = ran("make", "--dry-run", "--always-make", ".ci/node_modules/.package-lock.json").stdout
    assert "npm ci --prefix .ci --ignore-scripts" in said


def test_nothing_is_installed_without_its_hash() -> None:
    """Except the package itself, which brings nothing and is built with what is there."""
    said = ran("make", "--dry-run", "--always-make", ".venv/.spark").stdout
    installs = [line.split() for line in said.splitlines() if "pip install" in line]
    alone = {"--no-deps", "--no-build-isolation", "--editable", "."}
    (own,) = [line for line in installs if "--require-hashes" not in line]
    assert alone <= {*own}
    hashed = [line for line in installs if line is not own]
    assert [line for line in hashed if not {"--only-binary", "--requirement"} <= {*line}] == []
    names = ("pip", "base", "dev", "spark")
    assert [line[-1] for line in hashed] == [f".venv/{name}.txt" for name in names]
    # One comes as source only, and is built without fetching anything.
    sources = [line for line in hashed if "--no-binary" in line]
    assert [{"pyspark", "--no-build-isolation"} <= {*line} for line in sources] == [True]


NOTICES = {  # the data's licence asks for the notice wherever the data goes
    "agent/model/shipped": {".safetensors", ".md"},
    "agent/model/shipped/encoder": {".safetensors", ".txt"},
}


def built(folder: Path) -> Path:
    """Build the wheel from the checkout, without a network."""
    ran(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder)
    (wheel,) = folder.glob("*.whl")
    return wheel


def fill(folder: Path) -> None:
    """Write wheels of the base dependencies, and of pip, as they are installed here."""
    for name in closure([*PROJECT["project"]["dependencies"], "pip"]):
        packed(distribution(name), folder)


def packed(package: Distribution, folder: Path) -> Path:
    """Write the wheel of a distribution anew, of the files that it brought.

    Commands are left out, since whoever installs it makes them.
    """
    stated = (package.read_text("WHEEL") or "").splitlines()
    tags = [line.removeprefix("Tag: ").split("-") for line in stated if line.startswith("Tag: ")]
    tag = "-".join(".".join(dict.fromkeys(each)) for each in zip(*tags, strict=True))
    path = folder / f"{package.name.replace('-', '_')}-{package.version}-{tag}.whl"
    with ZipFile(path, "w") as wheel:
        for file in package.files or ():
            if ".." not in file.parts and file.suffix != ".pyc":
                wheel.write(str(file.locate()), str(file))
    return path


def test_the_wheel_holds_what_it_should(tmp_path: Path) -> None:
    """The extension whole, data of others with its notice, and nothing of the checkout's own.

    Tests and examples stay here, but for what goes where `man` and the shells look for it.
    """
    wheel = ZipFile(built(tmp_path))
    names = wheel.namelist()
    here = {str(each.relative_to(ROOT)): each for each in SOURCE.rglob("*") if each.is_file()}
    assert {name for name in names if name.startswith("agent/browser_extension/")} == here.keys()
    assert [name for name in here if wheel.read(name) != here[name].read_bytes()] == []
    assert [Path(name).name for name in names].count("background.js") == 1
    for folder, kinds in NOTICES.items():
        assert kinds <= {Path(each).suffix for each in names if each.startswith(f"{folder}/")}
    shared = [each for each in names if Path(each).parts[0].endswith(".data")]
    places = {each.partition(".data/data/share/")[2] for each in shared}
    assert places == write_share.shared().keys()
    rooms = {Path(name).parts[0] for name in names if name not in shared}
    assert {room for room in rooms if not room.endswith(".dist-info")} <= {"agent", "policy"}


def test_a_release_can_be_checked_with_what_lies_beside_it(tmp_path: Path) -> None:
    """The same files and key write the same, a changed file fails, and so does no such key."""
    needs("ssh-keygen", "sha256sum")
    folder, key, states = tmp_path / "dist", tmp_path / "key", list[dict[str, str]]()
    folder.mkdir()
    for name in ("a.whl", "b.zip"):
        (folder / name).write_text(name)
    assert "cannot be read" in ran(ROOT / ".ci/release", key, check=False).stderr
    ran("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "me@home", "-f", key)
    for keys in ((), (key,), (key,)):
        ran(ROOT / ".ci/sign", folder, *keys)
        states.append({each.name: each.read_text() for each in folder.iterdir()})
    first, written, again = states
    assert (len(first), len(written), again) == (3, 7, written)
    assert "me@home" not in written["allowed_signers"]
    verify = "ssh-keygen -Y verify -f allowed_signers -I reticent -n reticent -s"
    check = f"{verify} SHA256SUMS.sig <SHA256SUMS && sha256sum --check SHA256SUMS"
    for change, name in (("", "a.whl"), ("\n", "SHA256SUMS"), ("\n", "a.whl")):
        (folder / name).write_text(written[name] + change)
        assert (ran("bash", "-c", check, check=False, cwd=folder).returncode == 0) == (not change)
        (folder / name).write_text(written[name])


def test_the_man_page_is_what_help_says() -> None:
    """Of every command; `python -m examples.write_share` writes it anew, and the completions."""
    for place, text in write_share.shared().items():
        assert (write_share.SHARE / place).read_text() == text, str(write_share.__doc__)
    text = write_share.page().replace("\\-", "-")
    for command in ("ask", "connect", "daemon run", "policy set", "vault key add"):
        assert f'.SS "reticent {command} ' in text
    assert [line for line in text.splitlines() if line.startswith(("'", ". "))] == []
    assert str(ROOT) not in text
    assert str(Path.home()) not in text
