extension CallSpec {
  /// The trace of the client's request, from its field (W3C Trace Context); nil without one.
  public var traceparent: String? {
    headers.first { ASCIIText.equal($0.name, ignoringCase: "traceparent") }?.value
  }
}
