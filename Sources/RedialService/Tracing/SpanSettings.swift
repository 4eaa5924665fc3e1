internal import RedialCore
package import RedialModel
internal import RedialText

/// Where spans are sent, and the limits for sending.
package struct SpanSettings: Sendable {
  /// The base URL of the collector, to which `/v1/traces` is added; empty for none: nothing is traced.
  package var endpoint = ""
  /// Header fields of the requests to it.
  package var headers: [HeaderField] = []
  /// The service name of the spans.
  package var service = "redial"
  /// The share of traced calls among those whose clients sent no `traceparent`; a client that sent one decides.
  package var share = 1.0
  /// How long spans may wait before they are sent.
  package var interval = Duration.seconds(2)
  /// The timeout of a request.
  package var timeout = Duration.seconds(10)
  /// Ends of attempts and calls that may wait to be exported; more are dropped, and counted.
  package var maxWaiting = 20_000

  /// The defaults.
  package init() {}

  /// The URL for posting spans; nil for none.
  var url: String? {
    if endpoint.isEmpty { return nil }
    if endpoint.hasSuffix("/v1/traces") { return endpoint }
    return endpoint + (endpoint.hasSuffix("/") ? "v1/traces" : "/v1/traces")
  }

  /// Reads header fields in the form of OpenTelemetry's variables: `name=value,name=value`, values percent-encoded.
  ///
  /// - Returns: Nil if the text is invalid.
  static func headers(_ text: String) -> [HeaderField]? {
    var headers: [HeaderField] = []
    for part in text.split(separator: ",") {
      let parts = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = parts[0].filter { $0 != " " }
      guard parts.count == 2, !name.isEmpty, name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x3A }),
        let value = PercentCoding.decode(parts[1]), value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
      else { return nil }
      headers.append(HeaderField(name, value))
    }
    return headers
  }
}
