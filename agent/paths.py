"""Where all our files are on this machine (DESIGN.md section 5). Values only, no I/O."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

APP = "reticent"
HOME = "RETICENT_HOME"
RUNTIME = "XDG_RUNTIME_DIR"


@dataclass(frozen=True, slots=True)
class Paths:
    """The folders that are ours, each 0700, and the files in them."""

    config: Path
    data: Path
    state: Path
    runtime: Path

    @property
    def policy(self) -> Path:
        """The hand-edited file of the user's rules."""
        return self.config / "policy.toml"

    @property
    def vault(self) -> Path:
        """The encrypted profile and ledger."""
        return self.data / "vault.db"

    @property
    def models(self) -> Path:
        """The folder of models that were added."""
        return self.data / "models"

    @property
    def relay(self) -> Path:
        """What a browser starts to reach the daemon."""
        return self.data / "browser-relay"

    @property
    def extension(self) -> Path:
        """The folder of the browser extension, for browsers to load."""
        return self.data / "browser-extension"

    @property
    def witness(self) -> Path:
        """What the vault was last seen to be, kept apart from it to notice a rollback."""
        return self.state / "witness.json"

    @property
    def log(self) -> Path:
        """What the daemon did, without values and queries."""
        return self.state / "daemon.log"

    @property
    def daemon_lock(self) -> Path:
        """The file that a running daemon holds."""
        return self.state / "daemon.lock"

    @property
    def control(self) -> Path:
        """The socket of the command line and the terminal interface."""
        return self.runtime / "control.sock"

    @property
    def query(self) -> Path:
        """The socket of everything else: browsers, assistants."""
        return self.runtime / "query.sock"


def paths(environment: Mapping[str, str] | None = None) -> Paths:
    """Return where things lie: all under $RETICENT_HOME if it is set, else as the system has it.

    Sockets lie in $XDG_RUNTIME_DIR/reticent, else below the state folder, never in a shared
    temporary one. ``environment``: by default that of this process.
    """
    variables = os.environ if environment is None else environment
    if home := variables.get(HOME):
        base = Path(os.path.abspath(home))  # noqa: PTH100  (resolve() would follow links)
        return Paths(base / "config", base / "data", base / "state", base / "run")
    from platformdirs import user_config_path, user_data_path, user_state_path

    state, runtime = user_state_path(APP), variables.get(RUNTIME)
    ours = Path(runtime) / APP if runtime and Path(runtime).is_absolute() else state / "run"
    return Paths(user_config_path(APP), user_data_path(APP), state, ours)
