import RedialCore

/// What the fuzzer of header fields with times checks, for `Scripts/fuzz` and for a unit test.
enum FuzzedDates {
  /// Any bytes are a wait that is not negative, or none.
  ///
  /// - Returns: The fault, or nil.
  static func fault(_ input: [UInt8]) -> String? {
    let bytes = input[...]
    for now in [
      Timestamp.epoch, Timestamp(microseconds: 1_790_000_000_000_000), Timestamp(microseconds: .min), .distantFuture,
    ] {
      if let wait = RetryAfter.parse(bytes, at: now), wait < .zero { return "at \(now): a wait of \(wait)" }
      var fields = RateLimitFields()
      for name in ["ratelimit", "ratelimit-remaining", "x-ratelimit-reset"] {
        fields.note(ArraySlice(name.utf8), bytes, at: now)
      }
      if let reset = fields.reset, reset < .zero { return "at \(now): a reset in \(reset)" }
      _ = RetryDirective.parse(bytes)
    }
    return nil
  }
}
