internal import Foundation

extension OutgoingCall {
  /// The call as the service reads it: one JSON object. The same call gives the same bytes.
  ///
  /// - Throws: ``UnsupportedByService`` for a part that the service does not support; `EncodingError` for a body that
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
    case url, method, headers, body, json, bodyBase64, policy, delay, startAt, target, idempotent, labels, callback
    case capture
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
    try members.encodeIfPresent(call.policy.map(WirePolicy.init), forKey: .policy)
    switch call.start {
    case .now: break
    case .after(let delay):
      try members.encode(WireDuration.text(delay, in: .zero...WireDuration.longest, part: "start"), forKey: .delay)
    case .at(let date):
      guard let text = WireTime.text(date) else {
        // Not as a date: Foundation's description of some of these traps.
        throw UnsupportedByService("start", "\(date.timeIntervalSince1970) s from 1970 is not in the years 0 to 9999")
      }
      try members.encode(text, forKey: .startAt)
    }
    try members.encodeIfPresent(call.target, forKey: .target)
    if !call.isIdempotent { try members.encode(false, forKey: .idempotent) }
    if !call.labels.isEmpty { try members.encode(call.labels, forKey: .labels) }
    if let callback = call.callback {
      try members.encode(
        WireCallback(url: callback.url.absoluteString, events: callback.events.map(\.rawValue).sorted()),
        forKey: .callback)
    }
    if let bytes = call.captureBytes { try members.encode(["maxBytes": bytes], forKey: .capture) }
  }

  private struct WireCallback: Encodable {
    var url: String
    var events: [String]
  }
}
