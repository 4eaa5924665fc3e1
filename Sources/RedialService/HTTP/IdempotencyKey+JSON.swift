internal import RedialJSON
internal import RedialModel

extension IdempotencyKey {
  /// The key of a submission in JSON. Another text of the same value is a repetition: clients do not always write the
  /// members of an object in one order.
  ///
  /// - Parameters:
  ///   - json: The text; what is not JSON is the same only byte by byte.
  ///   - former: The bytes by which earlier versions recognized a repetition.
  ///   - start: What belongs to the submission besides the text, before it.
  ///   - end: Likewise, after it.
  init(
    _ name: IdempotencyName, json: UnsafeBufferPointer<UInt8>, former: UnsafeRawBufferPointer,
    after start: [UInt8] = [],
    before end: [UInt8] = []
  ) {
    let former = start.isEmpty && end.isEmpty ? SHA256Digest.of(former) : Self.digest(start + Array(former) + end)
    guard let form = JSONNormalForm.of(json) else {
      self.init(name, fingerprint: former)
      return
    }
    self.init(name, fingerprint: Self.digest(start + form + end), former: former)
  }

  private static func digest(_ bytes: [UInt8]) -> [UInt8] { bytes.withUnsafeBytes { SHA256Digest.of($0) } }
}
