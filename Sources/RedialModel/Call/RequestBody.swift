/// Where the body of a call's request is.
public enum RequestBody: Sendable, Hashable {
  /// In memory, and in the store once the call is there.
  case held([UInt8])
  /// In the store alone, from which it is read in pieces when it is sent: so many bytes, more than none.
  case stored(size: Int)

  /// How long it is, in bytes, wherever it is.
  public var size: Int {
    switch self {
    case .held(let bytes): bytes.count
    case .stored(let size): size
    }
  }

  /// How much of it is in memory, in bytes.
  public var heldSize: Int {
    if case .held(let bytes) = self { bytes.count } else { 0 }
  }
}

extension CallRecord {
  /// The bytes of the body as far as they are in memory: none of one that only the store has.
  public var body: [UInt8] {
    if case .held(let bytes) = content { bytes } else { [] }
  }

  /// The same call with its body.
  public func with(_ content: RequestBody) -> CallRecord {
    var record = self
    record.content = content
    return record
  }

  /// The same call without its body, if that is larger than so many bytes: whoever holds a call that is in the store need
  /// not hold a large body as well. A webhook keeps its own, since it is signed as a whole when it is sent.
  public func leavingBody(above bound: Int) -> CallRecord {
    guard kind == .call, content.heldSize > bound else { return self }
    var record = self
    record.content = .stored(size: content.heldSize)
    return record
  }
}
