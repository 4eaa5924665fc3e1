/// A key that people choose, together with its namespace. The compiler keeps it apart from a bare key, and from keys of
/// another kind, so that a client cannot reach what belongs to another tenant because a namespace was left out.
///
/// Code that handles keys need not know namespaces: a key and its namespace are one text, so comparing two keys costs
/// as much as comparing two texts. `Kind` only tells kinds of keys apart, such as ``TargetKind``.
public struct Qualified<Kind: Sendable>: Sendable {
  /// The key and its namespace in one text, as stores contain it: `NAMESPACE`, U+001F and the key; in
  /// ``Namespace/default`` only the key, so that keys stored before there were namespaces stay valid. Two different
  /// keys never have the same text, whatever characters they contain.
  public let text: String

  /// The key of a namespace.
  @inlinable
  public init(_ bare: String, in namespace: Namespace) {
    text = QualifiedText.make(bare, in: namespace)
  }

  /// A key from a store.
  ///
  /// - Parameter text: What ``text`` was; never the text of a client, who could name another namespace in it.
  @inlinable
  public init(qualified text: String) {
    self.text = text
  }

  /// The key as people see it.
  @inlinable
  public var bare: String { QualifiedText.bare(text) }
  /// Its namespace.
  @inlinable
  public var namespace: Namespace { QualifiedText.namespace(of: text) }
}

// Written out to be inlined: a key is as cheap in a dictionary as its text.
extension Qualified: Hashable {
  /// Whether both are the same key of the same namespace.
  @inlinable
  public static func == (one: Self, other: Self) -> Bool { one.text == other.text }

  /// Feeds the text to a hasher.
  @inlinable
  public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension Qualified: Comparable {
  /// Orders by ``text``: first by namespace, except for the default one, whose keys stand among the names of others.
  @inlinable
  public static func < (one: Self, other: Self) -> Bool { one.text < other.text }
}

extension Qualified: CustomStringConvertible, CustomDebugStringConvertible {
  /// The ``text``, for logs and tests. What a client sees has ``bare``.
  public var description: String { text }

  /// The same in quotation marks.
  public var debugDescription: String { text.debugDescription }
}

/// Tells the idempotency keys of submissions apart from others.
public enum IdempotencyKind: Sendable {}

/// A client's idempotency key, with its namespace: two tenants may use the same one.
public typealias IdempotencyName = Qualified<IdempotencyKind>

/// Tells the names of labels apart from others.
public enum LabelKind: Sendable {}

/// The name of a label, with its namespace.
public typealias LabelName = Qualified<LabelKind>

/// Tells the names of stored policies apart from others.
public enum PolicyKind: Sendable {}

/// The name of a stored policy, with its namespace.
public typealias PolicyName = Qualified<PolicyKind>

/// Tells the names of credentials apart from others.
public enum CredentialKind: Sendable {}

/// The name of a credential, with its namespace.
public typealias CredentialName = Qualified<CredentialKind>

/// The text of a key and its namespace.
public enum QualifiedText {
  private static let separator: Unicode.Scalar = "\u{1F}"
  private static let separatorByte: UInt8 = 0x1F

  /// The text for a namespace's key.
  public static func make(_ key: String, in namespace: Namespace) -> String {
    // A key of the default namespace that looks like one of another is written out in full.
    if namespace.isDefault, ASCIIText.withBytes(of: key, { position(in: $0, limit: $0.count) }) == nil { return key }
    var text = namespace.name
    text.unicodeScalars.append(separator)
    return text + key
  }

  /// The namespace in a text.
  public static func namespace(of text: String) -> Namespace {
    guard let end = split(text) else { return .default }
    return Namespace(text[..<end]) ?? .default
  }

  /// The key in a text, as people see it.
  public static func bare(_ text: String) -> String {
    guard let end = split(text) else { return text }
    return String(text.unicodeScalars[end...].dropFirst())
  }

  private static func split(_ text: String) -> String.Index? {
    ASCIIText.withBytes(of: text) { position(in: $0, limit: Namespace.longestName + 1) }
      .map { text.utf8.index(text.utf8.startIndex, offsetBy: $0) }
  }

  /// The position of the first separator within a number of bytes.
  private static func position(in bytes: UnsafeBufferPointer<UInt8>, limit: Int) -> Int? {
    // Nearly no key has a control character.
    guard ASCIIText.anyMarked(bytes, { ASCIIText.marks(of: $0, below: 0x20) }) else { return nil }
    return bytes.prefix(limit).firstIndex(of: separatorByte)
  }
}
