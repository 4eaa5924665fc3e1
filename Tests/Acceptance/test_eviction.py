"""A process whose store another has taken over does nothing more, and reports it."""

from processes import wait_until


def test_a_process_whose_store_was_taken_over_writes_and_starts_nothing_more(redial, receiver, tmp_path):
    target = receiver()
    first = redial(clock=True)
    call = first.submit(url=target.url, delay="1h")
    # A forbidden action: without the lock file, nothing prevents a second process from using the store.
    (tmp_path / "redial.db.lock").unlink()
    other = tmp_path / "other"
    other.mkdir()
    (other / "redial.db").symlink_to(first.store)
    second = redial(folder=other, clock=True)
    asked = [
        ("POST", "/v1/calls", {"url": target.url}),
        ("POST", f"/v1/calls/{call}/cancel", None),
        ("POST", "/v1/targets/billing/pause", None),
    ]
    for method, path, body in asked:
        answer = first(method, path, body)
        assert answer.status == 503 and answer.json["code"] == "leaseLost", answer.body
        assert int(answer.headers["Retry-After"]) > 0
    assert first("GET", "/readyz").status == 503
    # Now both would make the call.
    first.advance(3600)
    second.advance(3600)
    # The call belongs to the second process, and is made once.
    assert second.ended(call)["attemptCount"] == 1
    assert second.ended(second.submit(url=target.url))["state"] == "succeeded"
    first.says("leaseLost")
    assert first.terminate() == 0
    assert len(target.requests) == 2
    wait_until(lambda: second("GET", "/readyz").status == 200, "the second goes on")
