import RedialCore

/// Any bytes are a wait that is not negative, or none.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let start else { return 0 }
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))[...]
  for now in [
    Timestamp.epoch, Timestamp(microseconds: 1_790_000_000_000_000), Timestamp(microseconds: .min), .distantFuture,
  ] {
    if let wait = RetryAfter.parse(bytes, at: now) { precondition(wait >= .zero) }
    var fields = RateLimitFields()
    for name in ["ratelimit", "ratelimit-remaining", "x-ratelimit-reset"] {
      fields.note(ArraySlice(name.utf8), bytes, at: now)
    }
    if let reset = fields.reset { precondition(reset >= .zero) }
    _ = RetryDirective.parse(bytes)
  }
  return 0
}
