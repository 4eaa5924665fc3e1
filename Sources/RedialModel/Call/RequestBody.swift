/// Where the body of a call's request is.
public enum RequestBody: Sendable, Hashable {
  /// In memory, and in the store once the call is there.
  case held([UInt8])
  /// Only in the store, from which it is read in pieces when it is sent. The value is its size in bytes, above 0.
  case stored(size: Int)

  /// Its length in bytes, wherever it is.
  public var size: Int {
    switch self {
    case .held(let bytes): bytes.count
    case .stored(let size): size
    }
  }

  /// How many of its bytes are in memory.
  public var heldSize: Int {
    if case .held(let bytes) = self { bytes.count } else { 0 }
  }
}

extension CallRecord {
  /// The bytes that are in memory; none if the body is only in the store.
  public var body: [UInt8] {
    if case .held(let bytes) = content { bytes } else { [] }
  }

  /// The same call with its body.
  public func with(_ content: RequestBody) -> CallRecord {
    var record = self
    record.content = content
    return record
  }

  /// The same call without its body, if that is larger than a limit: an engine that has a stored call in memory need
  /// not keep a large body too. A webhook keeps its body, because it is signed as a whole when it is sent.
  public func withoutBody(above bound: Int) -> CallRecord {
    guard kind == .call, content.heldSize > bound else { return self }
    var record = self
    record.content = .stored(size: content.heldSize)
    return record
  }
}
