internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// The fields of an answer about retries.
extension HTTPURLResponse {
  func retryOutcome(at wallTime: Timestamp) -> AttemptOutcome {
    .answered(status: statusCode, retryAfter: retryAfter(at: wallTime), directive: retryDirective)
  }

  /// The wait that the target requests: in `Retry-After`, or, without it and if the status is one of throttling, in its
  /// rate limit fields.
  private func retryAfter(at wallTime: Timestamp) -> Duration? {
    if let wait = firstLine("Retry-After", { RetryAfter.parse($0, at: wallTime) }) { return wait }
    return statusCode == 429 || statusCode == 503 ? rateLimit(at: wallTime).wait : nil
  }

  private var retryDirective: RetryDirective? {
    firstLine("\(RetryDirective.fieldName)") { RetryDirective.parse($0) }
  }

  /// The more common names first, so that the standard's names win.
  private func rateLimit(at wallTime: Timestamp) -> RateLimitFields {
    var fields = RateLimitFields()
    let lines = ["x-ratelimit-remaining", "x-ratelimit-reset", "ratelimit-remaining", "ratelimit-reset"]
    for name in lines {
      guard let value = value(forHTTPHeaderField: name) else { continue }
      fields.note(Array(name.utf8)[...], Array(value.utf8).prefix { $0 != 0x2C }, at: wallTime)
    }
    // A list, whose members may be in any number of lines.
    if let value = value(forHTTPHeaderField: "ratelimit") {
      fields.note(Array("ratelimit".utf8)[...], Array(value.utf8)[...], at: wallTime)
    }
    return fields
  }

  /// The content of the first line of a field.
  ///
  /// Foundation joins repeated lines with a comma and a blank, which HTTP-dates contain too: the shortest beginning
  /// that ends there and can be read is the first line. If it cannot be read, no later line counts.
  private func firstLine<Value>(_ name: String, _ read: (ArraySlice<UInt8>) -> Value?) -> Value? {
    guard let text = value(forHTTPHeaderField: name) else { return nil }
    let bytes = Array(text.utf8)
    let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
    for end in bytes.indices.dropFirst() where bytes[end] == 0x20 && bytes[end - 1] == 0x2C {
      if let value = read(bytes[..<(end - 1)].drop(while: isBlank)) { return value }
    }
    var whole = bytes.drop(while: isBlank)
    while let last = whole.last, isBlank(last) { whole.removeLast() }
    return read(whole)
  }
}
