/// A key that people choose, together with its namespace. The compiler keeps it apart from a bare key, and from keys of
/// another kind, so that a client cannot reach what belongs to another tenant because a namespace was left out.
///
/// `Kind` only tells kinds of keys apart, such as ``TargetKind``.
public struct Qualified<Kind: Sendable>: Sendable, Hashable {
  /// The key and its namespace in one text; see ``QualifiedKey``.
  public let text: String

  /// The key of a namespace.
  public init(_ bare: String, in namespace: Namespace) {
    text = QualifiedKey.make(bare, in: namespace)
  }

  /// A key that is already qualified, such as one from the store or from a call's spec.
  public init(qualified text: String) {
    self.text = text
  }

  /// The key as people see it.
  public var bare: String { QualifiedKey.bare(text) }
  /// Its namespace.
  public var namespace: Namespace { QualifiedKey.namespace(of: text) }
}

/// Tells the keys of targets apart from others.
public enum TargetKind: Sendable {}

/// The key of a target, with its namespace.
public typealias TargetKey = Qualified<TargetKind>
