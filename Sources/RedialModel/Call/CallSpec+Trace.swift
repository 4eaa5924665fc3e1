extension CallSpec {
  /// The trace that its client's request belongs to, as the client said it (W3C Trace Context); nil when it did not.
  public var traceparent: String? {
    headers.first { ASCIIText.equal($0.name, ignoringCase: "traceparent") }?.value
  }
}
