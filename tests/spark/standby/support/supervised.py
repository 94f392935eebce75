"""A supervisor in a thread of its own, until it is told to end or has failed."""

from __future__ import annotations

from threading import Event, Thread

from streamproof.spark_bindings.layout.pairs import Copy
from streamproof.spark_bindings.processes.process_status import ProcessStatus
from streamproof.spark_bindings.standby.supervisor import Supervisor
from tests.spark.support.waiting import await_that


class Supervised(Thread):
    """The copies of a pipeline while they are supervised. A failure is told when all have ended."""

    def __init__(self, supervisor: Supervisor) -> None:
        super().__init__(daemon=True)
        self._supervisor, self._end_asked = supervisor, Event()
        self.failure: Exception | None = None
        self.start()

    def run(self) -> None:
        """Run the copies."""
        try:
            with self._supervisor:
                self._supervisor.until(self._end_asked)
        except Exception as error:  # noqa: BLE001 - the test asks for it
            self.failure = error

    def status(self, pair: str) -> dict[Copy, ProcessStatus]:
        """Return how the copies of a pair are."""
        status = self._supervisor.status()
        return {copy: status[pair, copy] for copy in Copy}

    def failed(self) -> Exception:
        """Wait until it has failed, and tell how."""
        await_that(lambda: self.failure is not None, "a failure")
        assert self.failure is not None
        return self.failure

    def end(self) -> None:
        """End all copies."""
        self._end_asked.set()
        self.join()
