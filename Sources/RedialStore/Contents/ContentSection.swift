/// The parts of a store's contents: tables whose rows all stores can read and write in a form that they have in common.
///
/// They are moved in this order: what a store derives from other rows, it finds when it needs them. Sessions and leases
/// are no part, because they are about the instances and not about the calls.
package enum ContentSection: String, Sendable, CaseIterable {
  case namespaces, targets, requests, attempts, retries, labels, turns, keys, calls
  case documents, settings, statistics, finished

  package struct Column: Sendable {
    /// What its values are; each of them may be null.
    package enum Kind: Sendable {
      case integer, text, bytes
    }

    package let name: String
    /// What its values are.
    package let kind: Kind
  }

  /// The columns. The first ``keyCount`` of them are the key.
  package var columns: [Column] {
    switch self {
    case .namespaces: Self.integers("id") + Self.texts("name")
    case .targets: Self.integers("id") + Self.texts("key") + Self.bytes("record")
    case .requests: Self.integers("id") + Self.bytes("spec", "body") + Self.integers("body_size")
    case .attempts:
      Self.integers("call_id", "number", "started_at", "duration", "outcome", "status")
        + Self.texts("failure_code", "failure_message") + Self.bytes("decision") + Self.integers("truncated")
        + Self.bytes("response_head", "response_body", "figures") + Self.integers("response_body_size")
    case .retries: Self.integers("call_id", "at", "after_attempt") + Self.texts("actor", "reason")
    case .labels: Self.texts("name", "value") + Self.integers("call_id")
    case .turns: Self.integers("call_id", "target_id") + Self.texts("key") + Self.integers("namespace", "has_turn")
    case .keys:
      Self.texts("key") + Self.integers("call_id") + Self.bytes("fingerprint")
        + Self.integers("created_at", "expires_at")
    case .calls:
      Self.integers(
        "id", "kind", "target_id", "namespace", "created_at", "priority", "state", "at", "waiting", "attempts",
        "interruptions", "attempts_before", "round_started_at", "previous_wait", "total_wait", "finished_at", "failure")
    case .documents: Self.texts("kind", "id") + Self.bytes("content")
    case .settings: Self.texts("name", "value")
    case .statistics: Self.integers("namespace", "step", "start") + Self.texts("counts")
    case .finished: Self.integers("kind", "state", "n")
    }
  }

  /// How many of the first columns name a row.
  package var keyCount: Int {
    switch self {
    case .attempts, .retries, .documents, .finished: 2
    case .labels, .statistics: 3
    case .namespaces, .targets, .requests, .turns, .keys, .calls, .settings: 1
    }
  }

  package var key: ArraySlice<Column> { columns.prefix(keyCount) }

  /// The place of a column in a row.
  package func place(of column: String) -> Int {
    guard let place = columns.firstIndex(where: { $0.name == column }) else {
      preconditionFailure("\(self) has no column \(column)")
    }
    return place
  }

  /// What its rows are, for people.
  package var title: String {
    switch self {
    case .keys: "idempotency keys"
    case .documents: "webhook endpoints, API keys, policies and bulk operations"
    case .finished: "counts of finished calls"
    default: rawValue
    }
  }

  /// The settings that are about the place of a store and not about its data: they are neither moved nor compared.
  package static let settingsOfPlace = [MigrationMark.settingName, "peerSecret", "writtenAgainAt", ServiceTime.setting]

  private static func integers(_ names: String...) -> [Column] { names.map { Column(name: $0, kind: .integer) } }
  private static func texts(_ names: String...) -> [Column] { names.map { Column(name: $0, kind: .text) } }
  private static func bytes(_ names: String...) -> [Column] { names.map { Column(name: $0, kind: .bytes) } }
}
