"""How texts are read: by which model, as what, and by the encoder once that is loaded."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

from agent.daemon.log import LOG, kind_and_place
from agent.decision.cache import Cache
from agent.model.model import Model, surest
from agent.model.reading import NOTHING, Interpretation
from agent.vault.corrections import Corrections
from agent.wire.state import Encoder

PATIENCE = 1.0  # seconds that a request waits for the encoder
UNREADABLE = "texts are read by their exact names only: "


def load_encoder() -> None:
    """Load the sentence encoder: under a second, 120 MiB, once for the process."""
    from agent.model.reading import load_network

    load_network()


class TextReader:
    """Reads texts for the daemon; ``corrections`` are the user's, None while the vault is locked.

    The encoder is loaded in a thread of its own, which shares nothing with the rest but the end of
    it. Until then, and where it cannot be loaded, only exact names and phrasings are read.
    ``problem``: why it was not loaded, None where it was or may yet be; ``cache``: of its readings.
    """

    def __init__(self, load: Callable[[], None] = load_encoder) -> None:
        """Load nothing yet; ``load``: loads the encoder, raises whatever it likes."""
        self.corrections: Corrections | None = None
        self.problem: str | None = None
        self.cache = Cache()
        self._load = load
        self._loading: Future[bool] | None = None

    def begin(self, models: Sequence[Model]) -> None:
        """Begin to load the encoder if a model needs it, and it is neither loaded nor about to be.

        What failed before is tried again.
        """
        if self.state != "absent" or not any(each.encoded for each in models):
            return
        self.problem, loading = None, Future[bool]()
        loading.set_running_or_notify_cancel()  # so that nobody who waits can cancel it

        def ended(done: "Future[None]") -> None:
            error = done.exception()
            if error is not None:
                self.problem = f"the encoder cannot be loaded: {type(error).__name__}"
                LOG.warning("the encoder cannot be loaded: %s", kind_and_place(error))
            loading.set_result(error is None)

        self._loading = loading
        thread = ThreadPoolExecutor(1, "encoder")
        thread.submit(self._load).add_done_callback(ended)
        thread.shutdown(wait=False)

    @property
    def state(self) -> Encoder:
        """Whether the encoder reads texts by now, or is being loaded."""
        loading = self._loading
        if loading is not None and not loading.done():
            return "loading"
        return "loaded" if loading is not None and loading.result() else "absent"

    async def ready(self, text: str, models: Sequence[Model], patience: float = PATIENCE) -> None:
        """Wait for the encoder if it is being loaded and a text needs it; others go on meanwhile.

        ``patience``: in seconds; after that the text is answered as not read.
        """
        loading = self._loading
        if (
            loading is None
            or loading.done()
            or any(each.match(text) is not None for each in models)
        ):
            return
        waiting = asyncio.wrap_future(loading)
        await asyncio.wait({waiting}, timeout=patience)
        waiting.cancel()

    def read(self, text: str, model: Model) -> Interpretation:
        """Return what a text means to a model, less what the user said that it does not mean."""
        if self.state == "loaded":
            found = self.cache.read(model, text)
        else:
            query = model.match(text)
            found = NOTHING if query is None else Interpretation.exact(query)
        if self.corrections is None or not self.corrections.kept:
            return found
        return model.corrected(found, self.corrections.rejected(text, model.id))

    def surest(self, text: str, models: Sequence[Model]) -> tuple[Model, Interpretation]:
        """Return the model whose reading of a text is the surest, with that reading.

        Of equals the first; the first of all where none is sure. A text that is a name or phrasing
        of one is not read by the others. ValueError without a model.
        """
        return surest(text, models, lambda model, asked: self.read(asked, model))
