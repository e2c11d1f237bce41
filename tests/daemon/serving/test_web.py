"""aiohttp is imported in one place, which leaves the environment as it was."""

import ast
import os

import pytest

from agent.daemon.web import NOWHERE, without_certificates
from tests.house.tree import ROOT, sources


@pytest.mark.parametrize("set_before", [[], ["SSL_CERT_FILE"], ["SSL_CERT_FILE", "SSL_CERT_DIR"]])
def test_the_environment_is_as_before(
    set_before: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether somebody had set it or not, and whatever happens in between."""
    for name in NOWHERE:
        monkeypatch.delenv(name, raising=False)
    for name in set_before:
        monkeypatch.setenv(name, "/their/own")
    before = dict(os.environ)
    with without_certificates():
        assert [os.environ[name] for name in NOWHERE] == [os.devnull] * 2
    assert dict(os.environ) == before
    with pytest.raises(ZeroDivisionError), without_certificates():
        raise ZeroDivisionError
    assert dict(os.environ) == before


def imports_aiohttp(text: str) -> bool:
    """Say whether a source imports aiohttp by itself."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.ImportFrom(module=str(module)) if module.split(".")[0] == "aiohttp":
                return True
            case ast.Import(names=names) if any(n.name.split(".")[0] == "aiohttp" for n in names):
                return True
    return False


def test_nobody_else_imports_it() -> None:
    """Whoever did it first would pay for the certificates."""
    ours = [path for path in sources(".py") if path.is_relative_to(ROOT / "agent")]
    assert [path.name for path in ours if imports_aiohttp(path.read_text())] == ["web.py"]
