internal import Foundation

extension OutgoingCall {
  /// The call as the service reads it: one JSON object. The same call gives the same bytes.
  ///
  /// - Throws: `UnsupportedByService` for a part that the service does not support; `EncodingError` for a body that
  ///   cannot be encoded.
  func descriptor() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(WireCall(call: self))
  }
}

/// A call in the words of the API.
private struct WireCall: Encodable {
  let call: OutgoingCall

  private enum Key: String, CodingKey {
    case url, method, headers, body, json, bodyBase64, policy, delay, startAt, target, idempotent, onRepeat,
      description, labels,
      callback
    case capture, orderingKey, priority, redirects, sensitive, redact
  }

  func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: Key.self)
    try members.encode(call.url.absoluteString, forKey: .url)
    try members.encodeIfPresent(call.method, forKey: .method)
    if !call.headers.isEmpty { try members.encode(call.headers, forKey: .headers) }
    switch call.body {
    case nil: break
    case .text(let text): try members.encode(text, forKey: .body)
    case .json(let value): try members.encode(value, forKey: .json)
    case .data(let bytes): try members.encode(bytes.base64EncodedString(), forKey: .bodyBase64)
    }
    try members.encodeIfPresent(call.policy, forKey: .policy)
    switch call.start {
    case .now: break
    case .after(let delay):
      try members.encode(WireDuration.text(delay, in: .zero...WireDuration.longest, part: "start"), forKey: .delay)
    case .at(let date): try members.encode(WireTime.text(date, part: "start"), forKey: .startAt)
    }
    try members.encodeIfPresent(call.target, forKey: .target)
    if call.isSensitive { try members.encode(true, forKey: .sensitive) }
    if !call.redact.isEmpty { try members.encode(call.redact, forKey: .redact) }
    if !call.isIdempotent { try members.encode(false, forKey: .idempotent) }
    try members.encodeIfPresent(call.onRepeat?.rawValue, forKey: .onRepeat)
    try members.encodeIfPresent(call.description, forKey: .description)
    if !call.labels.isEmpty { try members.encode(call.labels, forKey: .labels) }
    if let callback = call.callback {
      try members.encode(
        WireCallback(url: callback.url.absoluteString, events: callback.events.map(\.rawValue).sorted()),
        forKey: .callback)
    }
    if call.captureBytes != nil || !call.redactedHeaders.isEmpty {
      try members.encode(
        WireCapture(
          maxBytes: call.captureBytes, redactHeaders: call.redactedHeaders.isEmpty ? nil : call.redactedHeaders),
        forKey: .capture)
    }
    try members.encodeIfPresent(call.orderingKey, forKey: .orderingKey)
    try members.encodeIfPresent(call.priority, forKey: .priority)
    if let redirects = call.maxRedirects { try members.encode(["max": redirects], forKey: .redirects) }
  }

  private struct WireCapture: Encodable {
    var maxBytes: Int?
    var redactHeaders: [String]?
  }

  private struct WireCallback: Encodable {
    var url: String
    var events: [String]
  }
}
