"""Any server that speaks the OpenAI chat completions protocol: one request, or many at a time."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import islice
from threading import Event
from typing import Any, TypeVar

from lookcheck.dataset_builders.core.errors import InputError
from lookcheck.dataset_builders.core.verdict_file import Json
from lookcheck.scripts.models.reply import Reply, ReplyError, parse_reply, pause
from lookcheck.scripts.models.require import require
from lookcheck.scripts.models.settings import Access

K = TypeVar("K", bound=Hashable)

# The server refuses this prompt (its length, its content); another may pass.
_PROMPT_REFUSED = {400, 413, 422, 451}
_PASSING = {408, 409, 429}

_TOO_LONG = ("context length", "context_length", "maximum context", "too many tokens", "max_model_len")


@dataclass(frozen=True)
class Chat:
    """What is sent.

    Attributes
    ----------
    messages : sequence of mapping
        ``role`` and ``content``: a text, or a list of parts, ``{"type": "text", "text": …}`` and
        ``{"type": "image_url", "image_url": {"url": "data:image/png;base64,…"}}``.
    options : mapping
        Further fields of the request, such as ``temperature`` and ``max_tokens``. Those of
        ``--extra-body`` go before them, and null there leaves one out.
    """

    messages: Sequence[Mapping[str, Any]]
    options: Mapping[str, Json] = field(default_factory=dict)


class _Down(Exception):
    """No usable reply after all tries."""


class Server:
    """A model behind an OpenAI-compatible server.

    Parameters
    ----------
    access : Access
    model : str
        The server's name of it.
    probe : Chat
        A request that any such model answers: it tells who answers, and, after a failure, whether the
        server still answers at all.

    Raises
    ------
    InputError
        If the package `openai` is missing, or the address is none.
    """

    def __init__(self, access: Access, model: str, probe: Chat) -> None:
        require("openai")
        import openai

        self._access, self._model, self._probe, self._openai = access, model, probe, openai
        try:
            self._client = openai.OpenAI(
                base_url=access.url,
                # The package insists on a key; servers on one's own machines take any.
                api_key=access.key or "none",
                timeout=access.timeout,
                max_retries=0,
            )
        except Exception as error:
            raise self.error(f"is no address ({error})") from None
        self._greeted = False
        self._served: str | None = None
        self._over = Event()

    def greet(self) -> Reply:
        """Ask the probe, and keep in mind who answers: from here on, another model ends the run.

        Raises
        ------
        InputError
            If no reply comes, or none that can be read.
        """
        try:
            reply = self._ask(self._probe)
        except (_Down, ReplyError) as error:
            raise self.error(str(error)) from None
        self._greeted, self._served = True, reply.model
        return reply

    def ask(self, chat: Chat) -> Reply:
        """The server's reply to one request.

        Raises
        ------
        ReplyError
            If this request brought none, while the server answers others. The message holds no secret.
        InputError
            If the server answers nothing any more, refuses whatever it is asked, or has changed its model.
        """
        try:
            reply = self._ask(chat)
        except ReplyError as error:
            raise ReplyError(self.shown(str(error))) from None
        except _Down as error:
            raise self._failed_alone(str(error)) from None
        if self._greeted and reply.model != self._served:
            raise self.error(f"answers as {reply.model!r} now, as {self._served!r} before")
        return reply

    def ask_all(self, chats: Iterable[tuple[K, Chat]]) -> Iterator[list[tuple[K, Reply | ReplyError]]]:
        """Replies with their keys in the order in which they come, many requests at a time.

        Parameters
        ----------
        chats : iterable of (key, Chat)
            Taken as needed, so that pictures are encoded when their turn comes; in this thread.

        Yields
        ------
        list of (key, Reply or ReplyError)
            The replies that arrived together, in the order of the requests.

        Raises
        ------
        InputError
            As :meth:`ask`; what came before it is yielded first.
        """
        rest = enumerate(chats)
        self._over = Event()
        with ThreadPoolExecutor(self._access.concurrency) as pool:
            running: dict[Future[Reply | ReplyError], tuple[int, K]] = {}
            try:
                while True:
                    for place, (key, chat) in islice(rest, self._access.concurrency - len(running)):
                        running[pool.submit(self._reply_or_error, chat)] = place, key
                    if not running:
                        return
                    done, _ = wait(running, return_when=FIRST_COMPLETED)
                    ordered = sorted(done, key=lambda future: running[future][0])
                    sound = [future for future in ordered if future.exception() is None]
                    if not sound:
                        ordered[0].result()
                    yield [(running.pop(future)[1], future.result()) for future in sound]
            finally:
                # Whoever waits to try again leaves at once.
                self._over.set()
                for future in running:
                    future.cancel()

    def sent(self, chat: Chat) -> dict[str, Json]:
        """Fields of the request beside model and messages, as they go out.

        Returns
        -------
        dict
            The request's own options, replaced, dropped and added to by ``--extra-body``.
        """
        body = self._access.body
        own = {key: value for key, value in chat.options.items() if key not in body}
        return own | {key: value for key, value in body.items() if value is not None}

    def hidden(self, value: Json) -> Json:
        """The value without secrets, for a header."""
        return self._access.secrets.hide_in(value)

    def error(self, said: str) -> InputError:
        """What ends the run, with the server's address and without secrets."""
        return InputError(f"{self._access.shown}: {self.shown(said)}")

    def shown(self, text: str, limit: int = 300) -> str:
        """What a server said, in one line and without secrets; those go before the line is cut."""
        text = " ".join(self._access.secrets.hide(text).split())
        return text if len(text) <= limit else text[: limit - 1] + "…"

    def close(self) -> None:
        """Give back the connections."""
        self._client.close()

    def _reply_or_error(self, chat: Chat) -> Reply | ReplyError:
        try:
            return self.ask(chat)
        except ReplyError as error:
            return error

    def _failed_alone(self, reason: str) -> ReplyError:
        """One request's failure where the server still answers others; otherwise the end of the run."""
        try:
            self._ask(self._probe)
        except (_Down, ReplyError):
            raise self.error(reason) from None
        return ReplyError(self.shown(reason))

    def _ask(self, chat: Chat) -> Reply:
        """The server's reply.

        Raises
        ------
        ReplyError
            If it can't be read, or the server refuses this prompt.
        _Down
            If none came in all tries.
        InputError
            If the server refuses whatever it is asked.
        """
        access, openai = self._access, self._openai
        for tried in range(1, access.retries + 2):
            try:
                return parse_reply(self._send(chat))
            except UnicodeEncodeError:
                raise ReplyError("the request can't be sent: it holds half of a surrogate pair") from None
            except openai.APIStatusError as error:
                status, said = error.status_code, self.shown(error.response.text or error.message)
                if status in _PROMPT_REFUSED:
                    long = any(hint in said.lower() for hint in _TOO_LONG)
                    what = "the prompt's length" if long else f"this prompt ({status})"
                    raise ReplyError(f"the server refused {what}: {said}") from None
                if status not in _PASSING and status < 500:
                    raise self.error(f"answered {status}: {said}") from None
                failed, headers = f"answered {status}: {said}", dict(error.response.headers)
            except openai.APIConnectionError as error:
                failed = f"no reply after {tried} tries: {error.__cause__ or error}"
                headers = {}
            except openai.OpenAIError as error:
                raise self.error(str(error)) from None
            if tried <= access.retries:
                self._wait(pause(headers, tried), failed)
        raise _Down(failed)

    def _wait(self, seconds: float, failed: str) -> None:
        if seconds > self._access.timeout:
            raise self.error(
                f"{failed}; asks to wait {seconds:,.0f} s, --timeout allows {self._access.timeout:g}"
            )
        if self._over.wait(seconds):
            raise _Down(failed)

    def _send(self, chat: Chat) -> str:
        conversation: Any = list(chat.messages)
        reply = self._client.chat.completions.with_raw_response.create(
            model=self._model, messages=conversation, extra_body=self.sent(chat) or None
        )
        return reply.text
