internal import RedialCore
internal import RedialModel
internal import RedialStore

/// The changes of one commit, folded: of each call, target and key only what is to be stored at the end.
///
/// Order matters only between changes of one thing. A discarded call that is inserted again is discarded first.
struct FoldedWrites {
  /// What happens to a call.
  struct Change {
    let id: CallID
    /// The new call, with its progress at the end of the commit.
    var inserted: CallRecord?
    /// The progress of a call that is already stored.
    var progress: CallProgress?
    var attempts: [AttemptRecord] = []
    /// The last attempt of the commit.
    var last: AttemptRecord? { attempts.last }
  }

  /// A call that waits for its turn.
  struct Awaited {
    let id: CallID
    let target: TargetKey
    let key: String
  }

  private(set) var changes: [Change] = []
  private var places: [CallID: Int] = [:]
  private(set) var discarded: [CallID] = []
  private(set) var keys: [KeyRecord] = []
  private(set) var records: [TargetKey: TargetRecord] = [:]
  private(set) var awaited: [Awaited] = []
  private(set) var passed: [CallID] = []
  private(set) var retries: [(id: CallID, retry: ManualRetry)] = []
  private(set) var erased: [(id: CallID, spec: CallSpec)] = []
  /// Changes of the service itself, in order.
  private(set) var others: [StoreWrite] = []

  /// When the first of the calls that these changes put or leave where claims find them is due; nil if there is none.
  var firstDue: Timestamp? {
    // The store itself gives turns, and knows then when the calls are due.
    guard awaited.isEmpty, passed.isEmpty, discarded.isEmpty else { return Timestamp(microseconds: .min) }
    return changes.compactMap { change in
      guard let progress = change.inserted?.progress ?? change.progress, !progress.state.isFinal else { return nil }
      return StoredPlace(progress).state == StoredPlace.inMemory ? nil : progress.due
    }.min()
  }

  /// When the first of the calls that these changes end did so; nil if there is none.
  var firstEnd: Timestamp? { changes.compactMap { ($0.inserted?.progress ?? $0.progress)?.finishedAt }.min() }

  /// The new calls that another instance may have stored.
  var given: [CallID] { changes.compactMap { $0.inserted?.mayBeStored == true ? $0.id : nil } }

  /// Folds changes.
  init(_ writes: [StoreWrite]) {
    changes.reserveCapacity(writes.count)
    for write in writes { add(write) }
    // Rows of several instances are locked in one order, so that no two wait for each other.
    keys.sort { $0.key.name < $1.key.name }
  }

  private mutating func add(_ write: StoreWrite) {
    switch write {
    case .insert(let call):
      // A second insert of one call is a fault, which the database finds.
      places[call.id] = changes.count
      changes.append(Change(id: call.id, inserted: call))
    case .update(let id, let progress, let attempt):
      let place = place(of: id)
      if changes[place].inserted != nil {
        changes[place].inserted?.progress = progress
      } else {
        changes[place].progress = progress
      }
      if let attempt { changes[place].attempts.append(attempt) }
    case .key(let record):
      keys.removeAll { $0.key.name == record.key.name }
      keys.append(record)
    case .discard(let id):
      forget(id)
      discarded.append(id)
    case .target(let key, let record): records[key] = record
    case .awaitTurn(let id, let target, let key): awaited.append(Awaited(id: id, target: target, key: key))
    case .passTurn(let id):
      awaited.removeAll { $0.id == id }
      passed.append(id)
    case .retried(let id, let retry):
      retries.removeAll { $0.id == id && $0.retry.at == retry.at }
      retries.append((id, retry))
    case .erase(let id, let spec): erased.append((id, spec))
    case .put, .add, .remove, .tallied: others.append(write)
    }
  }

  private mutating func place(of id: CallID) -> Int {
    if let place = places[id] { return place }
    places[id] = changes.count
    changes.append(Change(id: id))
    return changes.count - 1
  }

  /// Drops what was to be done with a call that is discarded after all.
  private mutating func forget(_ id: CallID) {
    if let place = places.removeValue(forKey: id) {
      changes[place] = Change(id: id)
    }
    keys.removeAll { $0.call == id }
    awaited.removeAll { $0.id == id }
    retries.removeAll { $0.id == id }
    erased.removeAll { $0.id == id }
  }

  /// The targets that the changes name.
  var targets: Set<TargetKey> {
    var targets = Set(records.keys).union(awaited.map(\.target))
    for change in changes { if let call = change.inserted { targets.insert(call.spec.target) } }
    return targets
  }

  /// What needs data keys, because something of it is sealed: namespaces, or the service itself.
  func sealed(by vault: Vault) -> Set<String> {
    let hasDocuments = others.contains { write in
      switch write {
      case .put(let document), .add(let document): vault.seals(document.kind)
      default: false
      }
    }
    var names: Set<String> = hasDocuments ? [Vault.service] : []
    for change in changes {
      if let call = change.inserted, vault.seals(call.spec) { names.insert(call.spec.namespace.name) }
      if vault.sealsAll { for attempt in change.attempts { names.insert(attempt.namespace.name) } }
    }
    for (_, spec) in erased where vault.seals(spec) { names.insert(spec.namespace.name) }
    for (key, record) in records where vault.seals(record) { names.insert(key.namespace.name) }
    return names
  }

  /// The namespaces that the changes name.
  var namespaces: Set<Namespace> {
    var namespaces = Set(awaited.map(\.target.namespace))
    for change in changes { if let call = change.inserted { namespaces.insert(call.spec.namespace) } }
    for case .tallied(let minutes) in others { namespaces.formUnion(minutes.map(\.namespace)) }
    return namespaces
  }
}
