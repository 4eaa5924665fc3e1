internal import HTTPServer
internal import RedialCore
internal import RedialModel

/// Clients that wait for a result instead of polling.
extension Routes {
  /// Shows a call; if the client says how long it waits, once the call has ended.
  func show(
    _ id: CallID, _ request: borrowing HTTPRequest, _ responder: HTTPResponder, _ caller: Caller
  ) throws(Problem) {
    var parameters = try QueryParameters(request.query)
    let text = parameters.take("wait")
    let included = parameters.take("include")
    try parameters.finish()
    guard included == nil || included == "request" else { throw QueryParameters.problem("include", "must be request") }
    let withRequest = included != nil
    if withRequest, !admits(caller, to: .payloads, responder) { return }
    guard let text else {
      return runtime.answerWithCall(id, in: caller.namespace, responder, withRequest: withRequest)
    }
    guard let bound = DurationText.parse(text), bound <= longestWait else {
      throw QueryParameters.problem(
        "wait", "must be a duration such as 30s, and at most \(DurationText.format(longestWait))")
    }
    runtime.answerWhenEnded(id, in: caller.namespace, responder, within: bound, withRequest: withRequest)
  }

  /// How long the client of a submission waits for the result, if at all. A preference is limited, not refused.
  func preferredWait(_ request: borrowing HTTPRequest) -> Duration? {
    guard let wait = Preferences(of: request).wait, wait > .zero else { return nil }
    return min(wait, longestWait)
  }
}
