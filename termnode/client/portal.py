"""A thread that runs Trio, for programs that do not: one session's connection lives in it.

It starts with `Portal` and ends with `close`, or with the program. Work comes in from any thread
and its outcome goes out through a future; nothing is polled. A forked process has no such thread:
there nothing can be asked, and closing does nothing.
"""

from __future__ import annotations

import atexit
import logging
import os
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from functools import partial
from typing import Concatenate, Final, Generic, ParamSpec, TypeVar

import trio

from brokerd.client import where
from termnode.client.errors import ServiceUnavailable, TermnodeError, closed, forked
from termnode.client.link import Link
from termnode.client.opening import Where
from termnode.client.runner import soon

P = ParamSpec("P")
R = TypeVar("R")

log = logging.getLogger("termnode.client")

_RUNNING: Final[set[Portal]] = set()
"""Those whose thread has not ended."""


class Job(Generic[R]):
    """One piece of work: its ``future``, and `cancel` for who no longer waits for it."""

    def __init__(self, token: trio.lowlevel.TrioToken) -> None:
        self.future: Future[R] = Future()
        self.future.set_running_or_notify_cancel()  # from here on only the Trio side ends it
        self._token = token
        self._scope = trio.CancelScope()

    def cancel(self) -> None:
        """End it if it still runs; from any thread."""
        if not self.future.done():
            soon(self._token, self._scope.cancel)

    async def run(self, work: Callable[[], Awaitable[R]]) -> None:
        """Do the work and say what came of it."""
        try:
            with self._scope:
                self.future.set_result(await work())
        except Exception as error:  # noqa: BLE001  # it is raised where the outcome is waited for
            self.future.set_exception(error)
        finally:
            self.refuse()

    def refuse(self) -> None:
        """Unless it has an outcome: it was cancelled, or the session was closed."""
        if not self.future.done():
            self.future.set_exception(closed())


class Portal:
    """The thread of one session. Starting it returns at once; see ``opened``."""

    def __init__(self, service: Where) -> None:
        self.opened: Future[None] = Future()
        """Done when the connection stands; has the error when it cannot be made."""
        self.closed: Future[None] = Future()
        """Done when nothing of it is left but the end of the thread."""
        for future in (self.opened, self.closed):  # nobody but the thread ends them
            future.set_running_or_notify_cancel()
        self._service = service
        self._process = os.getpid()
        self._closing = False
        self._scope = trio.CancelScope()
        self._token: trio.lowlevel.TrioToken | None = None
        self._thread = threading.Thread(target=self._run, name="termnode", daemon=True)
        _RUNNING.add(self)
        self._thread.start()

    def submit(
        self,
        work: Callable[Concatenate[Link, P], Awaitable[R]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Job[R]:
        """Have ``work(link, *args)`` done over there. Raises SessionClosed."""
        if os.getpid() != self._process:
            raise forked()
        if self._is_here():  # a finalizer, wherever it happened to run: it would wait for itself
            raise RuntimeError("a session cannot be asked from within its own thread")
        token = self._token
        if token is None:
            raise closed()
        job = Job[R](token)
        doing = partial(self._begin, job, lambda: work(self._link, *args, **kwargs))
        try:
            token.run_sync_soon(doing)
        except trio.RunFinishedError:
            raise closed() from None
        return job

    def soon(self, work: Callable[[], object]) -> None:
        """As `Runner.soon`."""
        if self._token is not None and os.getpid() == self._process:
            soon(self._token, work)

    def stop(self) -> None:
        """Begin to close; from any thread, more than once."""
        self._closing = True
        self.soon(self._scope.cancel)

    def close(self) -> None:
        """Close, and wait until no thread and no socket is left."""
        self.stop()
        if not self._is_here():
            self._thread.join()

    def _is_here(self) -> bool:
        return threading.current_thread() is self._thread

    # -- over there ---------------------------------------------------------------------------

    def _begin(self, job: Job[R], work: Callable[[], Awaitable[R]]) -> None:
        if self._closing:
            job.refuse()
        else:
            self._nursery.start_soon(job.run, work)

    def _run(self) -> None:
        try:
            trio.run(self._serve)
        except BaseException as error:  # noqa: BLE001  # it is raised where it is waited for
            if self.opened.done():
                log.error("the connection failed: %s", where(error))
            else:
                self.opened.set_exception(_said(error))
        finally:
            if not self.opened.done():
                self.opened.set_exception(closed())
            _RUNNING.discard(self)
            self.closed.set_result(None)

    async def _serve(self) -> None:
        self._token = trio.lowlevel.current_trio_token()
        with self._scope:
            if self._closing:
                self._scope.cancel()
            async with self._service.link() as self._link, trio.open_nursery() as self._nursery:
                self.opened.set_result(None)
                try:
                    await trio.sleep_forever()
                finally:
                    self._closing = True


def _said(error: BaseException) -> BaseException:
    """As one of the client's errors, where the system lets no connection be made."""
    if not isinstance(error, OSError) or isinstance(error, TermnodeError):
        return error
    return ServiceUnavailable(f"no connection can be made here: {error.strerror}")


@atexit.register
def _close_all() -> None:
    """Sessions that nobody closed end with the program."""
    running = list(_RUNNING)
    for portal in running:
        portal.stop()
    for portal in running:
        portal.close()
