"""The most common uses with tenacity, as docs/library.md shows them beside Redial's. test_embedding.py runs them."""

from tenacity import retry, retry_if_exception_type, stop_after_attempt, stop_after_delay, wait_exception


class Busy(Exception):
    """A server's answer that says when to come back, in seconds."""

    def __init__(self, retry_after):
        self.retry_after = retry_after


@retry(stop=stop_after_attempt(3), retry=retry_if_exception_type(IOError), reraise=True)
def try_again(fetch):
    return fetch()


@retry(stop=stop_after_delay(1))
def bounded(fetch):
    return fetch()


@retry(stop=stop_after_attempt(5), wait=wait_exception(lambda error: error.retry_after))
def load(fetch):
    return fetch()


@retry(stop=stop_after_attempt(3), retry_error_callback=lambda _: "stale")
def with_fallback(fetch):
    return fetch()
