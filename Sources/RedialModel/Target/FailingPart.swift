public import RedialCore

/// What of a target fails while the rest of it works: the calls of one path, with one credential, or of one label; or what
/// Redial itself needs to call it.
public struct FailingPart: Sendable, Hashable {
  /// What its calls have in common.
  public enum Mark: Sendable, Hashable {
    /// A path, with `{n}` and `{id}` for what differs.
    case path(String)
    /// A header field. Its value is a secret, so what else its calls have in common is not said.
    case credential(String)
    case label(CallSpec.Label)
    /// What this side needs: such as a proxy, the resolver, or files.
    case ownSide

    /// That of the path of a URL.
    public init(pathOf url: String) { self = .path(AffectedCalls.path(of: url)) }
  }

  public let mark: Mark
  /// When it first failed while others got through, and last.
  public let since: Timestamp
  public private(set) var lastAt: Timestamp
  /// What the last attempt failed with.
  public private(set) var cause: String
  private var failed: Set<CallID> = []

  /// The most calls that are counted.
  public static let mostCalls = 1000
  /// The most parts of a target that are shown.
  public static let mostParts = 8

  public init(_ mark: Mark, since: Timestamp) {
    (self.mark, self.since, lastAt, cause) = (mark, since, since, "")
  }

  /// How many of its calls have failed and have not ended, up to ``mostCalls``.
  public var calls: Int { failed.count }

  /// An attempt has failed.
  public mutating func fail(_ call: CallID, _ cause: String, at now: Timestamp) {
    if failed.count < Self.mostCalls { failed.insert(call) }
    (self.cause, lastAt) = (cause, now)
  }

  /// A call has ended.
  public mutating func end(_ call: CallID) { failed.remove(call) }

  /// Such as "/status fails, the rest works".
  public var text: String {
    switch mark {
    case .path(let path): "\(path) fails, the rest works"
    case .credential(let name): "one \(name) fails, the rest works"
    case .label(let label): "\(label.name)=\(label.value) fails, the rest works"
    case .ownSide: "Redial cannot call it"
    }
  }
}
