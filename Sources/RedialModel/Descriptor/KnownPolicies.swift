internal import Glibc
internal import RedialCore
internal import Synchronization
internal import RedialJSON

/// A cache of policies by the bytes from which they were read.
///
/// Clients send the same few policies again and again, most of them none at all, and every call from the store has its
/// own: reading one costs as much as the rest of the descriptor, and writing it is most of the cost of a spec. The
/// cache returns what reading the same bytes again would return, so no result depends on it.
final class KnownPolicies: Sendable {
  static let recent = KnownPolicies()

  /// The maximum number of entries; beyond it all are removed, and those in use come back.
  static let limit = 256
  /// The maximum length of a text in the cache, in bytes.
  static let longestText = 2048

  private struct Entry: Sendable {
    let text: [UInt8]
    let policy: KnownPolicy

    func matches(_ other: UnsafeBufferPointer<UInt8>) -> Bool {
      guard text.count == other.count, let start = other.baseAddress else { return false }
      return text.withUnsafeBytes { mine in
        guard let mine = mine.baseAddress else { return true }
        return memcmp(mine, start, other.count) == 0
      }
    }
  }

  private struct Memory: Sendable {
    var entries: [UInt64: Entry] = [:]
    /// The entry that was used last, if it belongs to an object.
    var latest: Entry?

    mutating func use(_ entry: Entry) {
      latest = entry.text.first == UInt8(ascii: "{") ? entry : nil
    }
  }

  private let memory = Mutex(Memory())

  /// The number of entries.
  var count: Int { memory.withLock { $0.entries.count } }

  /// The policy that was used last, if these bytes begin with its text, and the length of the text. The bytes need not
  /// be parsed for it: an object ends with its closing bracket, whatever follows.
  func latest(leading bytes: UnsafeBufferPointer<UInt8>) -> (KnownPolicy, Int)? {
    memory.withLock { memory in
      guard let entry = memory.latest, bytes.count >= entry.text.count,
        entry.matches(UnsafeBufferPointer(rebasing: bytes[..<entry.text.count]))
      else { return nil }
      return (entry.policy, entry.text.count)
    }
  }

  /// The policy that was read from these bytes, if it is in the cache.
  func policy(readFrom text: UnsafeBufferPointer<UInt8>) -> KnownPolicy? {
    let digest = Self.digest(text)
    return memory.withLock { memory in
      guard let entry = memory.entries[digest], entry.matches(text) else { return nil }
      memory.use(entry)
      return entry.policy
    }
  }

  /// Adds the result of reading these bytes without a fault.
  func remember(_ draft: PolicyDraft, readFrom text: UnsafeBufferPointer<UInt8>) -> KnownPolicy {
    let policy = KnownPolicy(draft)
    guard text.count <= Self.longestText else { return policy }
    let digest = Self.digest(text)
    memory.withLock { memory in
      if memory.entries.count >= Self.limit { memory.entries.removeAll(keepingCapacity: true) }
      let entry = Entry(text: Array(text), policy: policy)
      memory.entries[digest] = entry
      memory.use(entry)
    }
    return policy
  }

  /// Any digest works, because the bytes are compared: this one is fast. Two texts with the same digest displace each
  /// other.
  private static func digest(_ text: UnsafeBufferPointer<UInt8>) -> UInt64 {
    let raw = UnsafeRawBufferPointer(text)
    var digest = UInt64(truncatingIfNeeded: raw.count)
    var at = 0
    while at + 8 <= raw.count {
      digest = mix(digest ^ raw.loadUnaligned(fromByteOffset: at, as: UInt64.self))
      at += 8
    }
    while at < raw.count {
      digest = mix(digest ^ UInt64(raw[at]))
      at += 1
    }
    return digest
  }

  private static func mix(_ value: UInt64) -> UInt64 {
    let product = value.multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
    return product.high ^ product.low
  }
}

/// A client's policy, and the resulting policy for each kind of request.
final class KnownPolicy: Sendable {
  /// The policy of a client that gives none.
  static let unsaid = KnownPolicy(PolicyDraft())

  /// A complete policy.
  final class Finished: Sendable {
    /// The policy of a call, with its canonical JSON.
    let ofCall: AcceptedPolicy
    private let mayRepeat: Bool
    private let found = Mutex<[CallWarning]?>(nil)

    init(_ policy: AcceptedPolicy, mayRepeat: Bool) {
      ofCall = policy
      self.mayRepeat = mayRepeat
    }

    var policy: RetryPolicy { ofCall.policy }

    /// Its warnings, computed once.
    var warnings: [CallWarning] {
      found.withLock { found in
        if let found { return found }
        let warnings = CallWarning.of(policy.warnings, policy, mayRepeat: mayRepeat)
        found = warnings
        return warnings
      }
    }
  }

  private let draft: PolicyDraft
  /// For a request that must not be repeated, and for one that may be.
  private let finished = Mutex<[Finished?]>([nil, nil])

  init(_ draft: PolicyDraft) {
    self.draft = draft
  }

  /// The policy for a request that may be repeated, or must not be.
  func finished(mayRepeat: Bool) -> Finished {
    finished.withLock { finished in
      let place = mayRepeat ? 1 : 0
      if let known = finished[place] { return known }
      let policy = draft.finished(mayRepeat: mayRepeat)
      var writer = JSONWriter(capacity: 512)
      policy.write(to: &writer)
      let made = Finished(AcceptedPolicy(policy, json: writer.bytes), mayRepeat: mayRepeat)
      finished[place] = made
      return made
    }
  }
}

extension AcceptedPolicy {
  /// That of a client that gives none, for a request that may be repeated.
  static let unsaid = KnownPolicy.unsaid.finished(mayRepeat: true).ofCall
}
