public import RedialCore
public import RedialJSON

/// One line of the audit log: who did what, when, from where, and what has changed by it. It is written once.
public struct AuditRecord: StoredRecord, Equatable {
  /// What kind of actor somebody is.
  public enum ActorKind: String, Sendable, Hashable, CaseIterable, FieldValue {
    /// A client with an API key.
    case key
    /// A client with the admin key of the settings.
    case adminKey
    /// A person whom a trusted proxy has named.
    case person
    /// Anybody: no key was needed.
    case anybody
    /// A command that has opened the store while no service ran.
    case command
    /// An instance of the service: it records what nobody has done.
    case instance

    public static var unset: ActorKind { .anybody }
  }

  public var id = ""
  public var at = Timestamp.epoch
  public var namespace = Namespace.default
  public var actorKind = ActorKind.anybody
  /// The id of the key, or the name of the person or of the user of the system.
  public var actor: String?
  /// The name of the key.
  public var actorName: String?
  /// The address of the client; nil over a Unix domain socket, and for a command.
  public var address: String?
  /// The word of an ``AuditAction``; a newer version may have written one that this one does not know.
  public var action = ""
  /// The id, name or key of what was changed.
  public var object = ""
  /// The members that differ, before and after; empty for none.
  public var (before, after) = (RawJSON(), RawJSON())

  public init() {}

  public var isComplete: Bool { !id.isEmpty && !action.isEmpty }

  public static func fields<Visitor: FieldVisitor & ~Copyable>(
    _ visitor: inout Visitor, _ record: inout AuditRecord
  ) throws(Visitor.Failure) {
    try visitor.visit("id", &record.id)
    try visitor.visit("at", &record.at)
    try visitor.visit("namespace", &record.namespace)
    try visitor.visit("actorKind", &record.actorKind)
    try visitor.visit("actor", &record.actor)
    try visitor.visit("actorName", &record.actorName)
    try visitor.visit("address", &record.address)
    try visitor.visit("action", &record.action)
    try visitor.visit("object", &record.object)
    try visitor.visit("before", &record.before)
    try visitor.visit("after", &record.after)
  }

  /// It as a store has it.
  public var document: StoredDocument { StoredDocument(.audit, id: id, bytes) }

  /// Writes it as one object.
  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.field("id", id)
    writer.field("at", at)
    writer.field("namespace", namespace.name)
    writer.field("actorKind", actorKind.rawValue)
    writer.field("actor", actor)
    writer.field("actorName", actorName)
    writer.field("address", address)
    writer.field("action", action)
    writer.field("object", object)
    for (name, value) in [("before", before), ("after", after)] {
      writer.key(name)
      if value.bytes.isEmpty { writer.null() } else { writer.raw(value.bytes) }
    }
    writer.endObject()
  }

  // MARK: Ids

  /// The prefix of ids.
  public static let prefix = "audit_"
  private static let timeDigits = 14
  private static let randomDigits = 8

  /// An id that sorts by time.
  ///
  /// - Parameter random: Tells apart those that two instances make at the same moment.
  public static func id(at time: Timestamp, _ random: UInt32) -> String {
    firstID(at: time) + digits(UInt64(random), randomDigits)
  }

  /// What comes before every id of this time or later, and behind every earlier one.
  public static func firstID(at time: Timestamp) -> String {
    prefix + digits(UInt64(max(0, time.microseconds)), timeDigits)
  }

  /// Whether a text has the form of an id.
  public static func isID(_ text: String) -> Bool {
    text.hasPrefix(prefix) && text.utf8.count == prefix.utf8.count + timeDigits + randomDigits
      && text.utf8.dropFirst(prefix.utf8.count).allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }

  private static func digits(_ value: UInt64, _ count: Int) -> String {
    let text = String(value, radix: 16)
    return String(repeating: "0", count: max(0, count - text.count)) + text
  }
}
