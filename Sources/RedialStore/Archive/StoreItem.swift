internal import RedialText
package import RedialCore
package import RedialModel

/// What a store has besides calls, in the words of the service and not of a table, so that each kind of store can read and
/// write it.
///
/// Sessions and leases are no such thing, because they are about instances. What follows from calls, such as their counts,
/// each store makes itself.
package enum StoreItem: Sendable, Hashable {
  /// A value of the service, such as the secret that signs webhooks.
  case setting(name: String, value: String)
  /// An API key, a webhook endpoint, a policy, an operation and so on.
  case document(StoredDocument)
  /// What outlives the process of a target.
  case target(TargetKey, TargetRecord)
  /// Counts of a namespace in a step of time.
  case counts(StoredCounts)

  /// The kinds, in the order in which they are moved: calls that come later change what they need to change.
  package enum Kind: String, Sendable, CaseIterable {
    case setting, document, target, counts

    /// What they are, for people.
    package var title: String {
      switch self {
      case .setting: "settings"
      case .document: "API keys, endpoints, policies and other documents"
      case .target: "targets with a state or settings"
      case .counts: "statistics"
      }
    }
  }

  package var kind: Kind {
    switch self {
    case .setting: .setting
    case .document: .document
    case .target: .target
    case .counts: .counts
    }
  }

  /// What no other one in its store has, for people.
  package var name: String {
    switch self {
    case .setting(let name, _): "the setting \(PlainText.escaped(name))"
    case .document(let document): "the \(document.kind.rawValue) \(PlainText.escaped(document.id))"
    case .target(let key, _): "the target \(PlainText.escaped("\(key)"))"
    case .counts(let counts):
      "the counts of the \(counts.step) at \(TimestampText.format(counts.start)) in \(counts.namespace.name)"
    }
  }

  /// The settings that are about the place of a store and not about its data: they do not travel.
  package static let settingsOfPlace = [
    MigrationMark.settingName, "peerSecret", "writtenAgainAt", "rekey", SealedContents.settingName, ServiceTime.setting,
    LostCommits.settingName,
  ]

  /// A target that has something to travel; nil for one whose record says nothing.
  package static func travelling(_ key: TargetKey, _ record: TargetRecord) -> StoreItem? {
    record == TargetRecord() ? nil : .target(key, record)
  }

  /// Counts that travel; nil for none.
  package static func travelling(_ counts: StoredCounts) -> StoreItem? {
    counts.numbers.isEmpty ? nil : .counts(counts)
  }

  /// A document that travels; nil for one of a kind of which each store has its own.
  package static func travelling(_ document: StoredDocument) -> StoreItem? {
    document.kind.travels ? .document(document) : nil
  }

  /// A setting that travels; nil for one of the place.
  package static func travelling(_ name: String, _ value: String) -> StoreItem? {
    settingsOfPlace.contains(name) ? nil : .setting(name: name, value: value)
  }
}

extension Vault {
  /// Throws if a thing must not be stored without a key, and there is none.
  package func check(_ item: StoreItem) throws(StoreError) {
    switch item {
    case .setting(let name, _): try check(setting: name)
    case .document(let document): try check(document)
    case .target(_, let record):
      guard canSeal || !record.hasSecrets else { throw Self.refusal(of: "A target's secret") }
    case .counts: break
    }
  }
}

/// How calls ended and attempts went in one step of time, as a store has it.
package struct StoredCounts: Sendable, Hashable {
  package var namespace: Namespace
  /// How long the step is.
  package var step: StatisticsStep
  /// When it began.
  package var start: Timestamp
  /// What ``CallTally/numbers`` wrote.
  package var numbers: [Int64]

  /// Creates them.
  package init(namespace: Namespace, step: StatisticsStep, start: Timestamp, numbers: [Int64]) {
    self.namespace = namespace
    self.step = step
    self.start = start
    self.numbers = numbers
  }
}

extension Sequence<StoreItem> {
  /// In an order that does not depend on the store, which may sort texts in its own way.
  package func ordered() -> [StoreItem] {
    func key(_ item: StoreItem) -> (Int, [UInt8], Int64) {
      let place = StoreItem.Kind.allCases.firstIndex(of: item.kind) ?? 0
      switch item {
      case .setting(let name, _): return (place, Array(name.utf8), 0)
      case .document(let document): return (place, Array("\(document.kind.rawValue)\0\(document.id)".utf8), 0)
      case .target(let key, _): return (place, Array(key.text.utf8), 0)
      case .counts(let counts):
        return (place, Array("\(counts.namespace.name)\0\(counts.step)".utf8), counts.start.microseconds)
      }
    }
    return map { ($0, key($0)) }.sorted { one, other in
      let (one, other) = (one.1, other.1)
      if one.0 != other.0 { return one.0 < other.0 }
      if one.1 != other.1 { return one.1.lexicographicallyPrecedes(other.1) }
      return one.2 < other.2
    }.map(\.0)
  }
}
