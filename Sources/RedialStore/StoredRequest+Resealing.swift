package import RedialModel

extension Vault {
  /// A stored request, sealed by the newest key; nil if it is so.
  package func resealed(
    _ request: StoredRequest, of id: CallID, in namespace: String
  ) throws(SealDamage) -> StoredRequest? {
    guard isOld(request.spec, in: namespace) else { return nil }
    var body = request.body
    // A plain one may begin with any byte.
    if request.spec.first == SealedForm.marker, !body.isEmpty {
      body = try body.withUnsafeBufferPointer { bytes throws(SealDamage) in try open(bytes, .call(id, .body)) }
    }
    return StoredRequest(
      spec: try resealed(request.spec, .call(id, .spec), in: namespace),
      // None was there, or it was erased.
      body: request.body.isEmpty ? [] : seal(body, .call(id, .body), in: namespace), inflatedSize: request.inflatedSize)
  }
}
