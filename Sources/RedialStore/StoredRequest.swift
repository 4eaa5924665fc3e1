internal import RedialJSON
package import RedialModel

/// What was submitted, in the form in which every store keeps it.
package struct StoredRequest: Sendable {
  /// The spec, as canonical JSON, or sealed.
  package let spec: [UInt8]
  /// The body, unchanged or compressed. It is sealed if the spec is: a plain body may begin with any byte.
  package let body: [UInt8]
  /// The size of a compressed body when it is inflated, in bytes; nil for an unchanged one.
  package let inflatedSize: Int64?

  /// The request of a call whose body is in memory.
  ///
  /// - Parameters:
  ///   - compressMinBytes: The smallest body that is compressed, in bytes.
  ///   - vault: Seals it. There must be a data key.
  package init(_ call: CallRecord, compressMinBytes: Int, _ vault: Vault) {
    guard case .held(let body) = call.content else {
      preconditionFailure("a call whose body only the store has is in the store")
    }
    let compressed = PayloadCoding.deflated(body, threshold: compressMinBytes)
    inflatedSize = compressed.map { _ in Int64(body.count) }
    let stored = compressed ?? body
    spec = vault.sealed(call.spec, of: call.id)
    self.body =
      vault.seals(call.spec) ? vault.seal(stored, .call(call.id, .body), in: call.spec.namespace.name) : stored
  }

  /// A request without its payloads, which were erased. If the spec has secrets, there must be a data key.
  package init(erasedTo spec: CallSpec, of id: CallID, _ vault: Vault) {
    self.init(spec: vault.sealed(spec, of: id), body: [], inflatedSize: nil)
  }

  /// Creates a request from its parts.
  package init(spec: [UInt8], body: [UInt8], inflatedSize: Int64?) {
    self.spec = spec
    self.body = body
    self.inflatedSize = inflatedSize
  }

  /// The checksums of a request, as stores keep them.
  package struct Sums: Sendable, Hashable {
    /// That of the spec.
    package let spec: UInt32
    /// That of the body and its inflated size.
    package let body: UInt32

    /// The value of the column: the spec's is its upper half.
    package var column: Int64 { Int64(Int32(bitPattern: spec)) << 32 | Int64(body) }

    /// Those in a column.
    package init(column: Int64) {
      (spec, body) = (UInt32(truncatingIfNeeded: column >> 32), UInt32(truncatingIfNeeded: column))
    }

    init(_ request: StoredRequest, of id: CallID) {
      spec = request.spec.withUnsafeBufferPointer { Self.spec($0, of: id) }
      var sum = Self.beginningOfBody(of: id, inflatedSize: request.inflatedSize)
      request.body.withUnsafeBytes { sum.add(piece: $0) }
      body = sum.value
    }

    static func spec(_ bytes: UnsafeBufferPointer<UInt8>, of id: CallID) -> UInt32 {
      var sum = Checksum()
      sum.add(id.rawValue)
      sum.add(piece: UnsafeRawBufferPointer(bytes))
      return sum.value
    }

    /// The checksum of a body before its first byte. It may be read in pieces.
    static func beginningOfBody(of id: CallID, inflatedSize: Int64?) -> Checksum {
      var sum = Checksum()
      sum.add(id.rawValue)
      sum.add(inflatedSize)
      return sum
    }
  }

  /// The checksums with which it is stored.
  package func sums(of id: CallID) -> Sums { Sums(self, of: id) }

  /// Why a part cannot be read.
  package struct Damage: Error {
    /// A clause.
    package let reason: String
    /// The store's error, if it is not known whether the part is damaged.
    package let cause: StoreError?
    /// Whether other versions cannot read it either.
    private let isBroken: Bool

    init(_ reason: String, isBroken: Bool) { (self.reason, cause, self.isBroken) = (reason, nil, isBroken) }

    init(_ damage: SealDamage, _ what: String) {
      reason = damage.reason(what)
      if case .unreadable(let error) = damage { cause = error } else { cause = nil }
      isBroken = cause == nil
    }

    /// The damage as that of a call.
    ///
    /// - Parameter isSetAside: Whether a service has found it before, and ended the call.
    package func of(_ id: CallID, remains: CallRemains? = nil, isSetAside: Bool = false) -> DamagedCall {
      DamagedCall(id: id, reason: reason, remains: remains, cause: cause, isBroken: isBroken || isSetAside)
    }
  }

  /// Reads a stored spec.
  ///
  /// - Parameter sums: Its checksums; nil if they are not stored, or were looked at.
  package static func spec(
    _ bytes: UnsafeBufferPointer<UInt8>, of id: CallID, _ sums: Sums?, _ vault: Vault
  ) throws(Damage) -> CallSpec {
    let isIntact = sums == nil || sums?.spec == Sums.spec(bytes, of: id)
    // What is wrong with it says more than that something is.
    let spec = try read(bytes, of: id, isIntact: isIntact, vault)
    guard isIntact else { throw Damage("its descriptor has another checksum", isBroken: true) }
    return spec
  }

  private static func read(
    _ bytes: UnsafeBufferPointer<UInt8>, of id: CallID, isIntact: Bool, _ vault: Vault
  ) throws(Damage) -> CallSpec {
    guard SealedForm.isSealed(bytes) else { return try spec(bytes, isIntact: isIntact) }
    let plain: [UInt8]
    do throws(SealDamage) {
      plain = try vault.open(bytes, .call(id, .spec))
    } catch {
      throw Damage(error, "its descriptor")
    }
    return try plain.withUnsafeBufferPointer { plain throws(Damage) in try spec(plain, isIntact: isIntact) }
  }

  private static func spec(_ bytes: UnsafeBufferPointer<UInt8>, isIntact: Bool) throws(Damage) -> CallSpec {
    do throws(JSONError) {
      return try CallSpec.read(canonicalJSON: bytes)
    } catch {
      throw Damage(
        "its descriptor is not readable: \(error.reason)", isBroken: !isIntact || !JSONReader.isValue(bytes))
    }
  }

  /// Reads a stored body.
  ///
  /// - Parameters:
  ///   - size: Its inflated size; nil for an uncompressed one.
  ///   - isSealed: Whether the spec is.
  ///   - sums: Its checksums; nil if they are not stored, or were looked at.
  package static func body(
    _ bytes: UnsafeBufferPointer<UInt8>, size: Int64?, isSealed: Bool, of id: CallID, _ sums: Sums?,
    _ vault: Vault
  ) throws(Damage) -> [UInt8] {
    let body: [UInt8]?
    // A body that was erased is none.
    if isSealed, !bytes.isEmpty {
      do throws(SealDamage) {
        let stored = try vault.open(bytes, .call(id, .body))
        body = size == nil ? stored : stored.withUnsafeBufferPointer { PayloadCoding.payload($0, size: size) }
      } catch {
        throw Damage(error, "its body")
      }
    } else {
      guard !vault.knows(bytes) else {
        throw Damage("its body is encrypted and its descriptor is not", isBroken: true)
      }
      body = PayloadCoding.payload(bytes, size: size)
    }
    guard let body else { throw Damage("its body cannot be decompressed", isBroken: true) }
    // One that was not read has no address, nor has an empty one.
    if let sums, bytes.baseAddress != nil {
      var sum = Sums.beginningOfBody(of: id, inflatedSize: size)
      sum.add(piece: UnsafeRawBufferPointer(bytes))
      guard sum.value == sums.body else { throw Damage("its body has another checksum", isBroken: true) }
    }
    return body
  }

  /// The size of a body that is left in the store, by that of its stored form; nil if no body has it.
  package static func size(stored: Int64, inflated: Int64?, isSealed: Bool) -> Int? {
    guard PayloadCoding.isPossible(size: stored) else { return nil }
    guard isSealed, inflated == nil else { return Int(stored) }
    return SealedForm.plainSize(of: Int(stored))
  }
}

extension Vault {
  /// Whether a call's request is sealed.
  package func seals(_ spec: CallSpec) -> Bool { sealsAll || canSeal && spec.hasSecrets }

  /// A spec as it is to be stored. There must be a data key.
  package func sealed(_ spec: CallSpec, of id: CallID) -> [UInt8] {
    seals(spec) ? seal(spec.canonicalJSON, .call(id, .spec), in: spec.namespace.name) : spec.canonicalJSON
  }

  /// Throws if a call has a secret that cannot be sealed: a secret is never stored as it is.
  package func check(_ spec: CallSpec) throws(StoreError) {
    guard canSeal || !spec.hasSecrets else { throw Self.refusal(of: "A call with a secret") }
  }

  /// A stored spec before it was sealed; nil if it cannot be opened.
  package func plain(spec bytes: UnsafeBufferPointer<UInt8>, of id: CallID) -> [UInt8]? {
    SealedForm.isSealed(bytes) ? try? open(bytes, .call(id, .spec)) : Array(bytes)
  }

  /// The URL in a stored spec; nil if it cannot be read.
  package func url(in spec: UnsafeBufferPointer<UInt8>, of id: CallID) -> String? {
    guard SealedForm.isSealed(spec) else { return CallSpec.shownURL(inCanonicalJSON: spec) }
    return plain(spec: spec, of: id)?.withUnsafeBufferPointer { CallSpec.shownURL(inCanonicalJSON: $0) }
  }

  /// What a stored spec shows of a call that is damaged.
  package func remains(of id: CallID, spec: UnsafeBufferPointer<UInt8>) -> CallRemains {
    plain(spec: spec, of: id)?.withUnsafeBufferPointer { CallRemains(of: id, spec: $0) } ?? CallRemains(id: id)
  }

  /// The labels of a removed call, according to its stored spec.
  package func removedLabels(of id: CallID, spec: UnsafeBufferPointer<UInt8>) -> RemovedLabels {
    guard SealedForm.isSealed(spec) else { return RemovedLabels(spec: spec) }
    return plain(spec: spec, of: id)?.withUnsafeBufferPointer { RemovedLabels(spec: $0) } ?? .unknown
  }
}
