package import RedialCore
internal import RedialJSON
package import RedialModel

/// Puts what an archive has into a store, many calls at a time. What the store has already stays unchanged, so that an
/// interrupted import can be repeated.
package final class StoreImport {
  /// Calls in a transaction.
  package static let batch = 1000
  /// Bytes of payload in a transaction.
  private static let batchBytes = 16 << 20

  /// The counts of what was imported so far.
  package struct Tally: Sendable, Hashable {
    /// Calls added to the store.
    package var imported = 0
    /// Calls that were in the store already.
    package var known = 0
    /// What is about no call, and was added to the store.
    package var items = 0
    /// The same that was in the store already, under its name.
    package var knownItems = 0
  }

  /// The counts of what is on disk.
  package private(set) var tally = Tally()

  private let store: any ArchiveDestination
  private let now: Timestamp
  private var items: [StoreItem] = []
  private var policies: Set<String>?
  private var waiting: [CallID: ArchivedCall] = [:]
  private var order: [CallID] = []
  private var waitingBytes = 0

  /// Begins to put calls into a store.
  ///
  /// - Parameters:
  ///   - now: The time of the wall clock: expired keys are left out.
  ///   - isFilling: Whether the store has nothing but what the same source has put there before.
  package init(into store: any ArchiveDestination, at now: Timestamp, isFilling: Bool = false) {
    self.store = store
    self.now = now
    if isFilling { policies = [] }
  }

  /// Adds what is about no call, at the latest when the import finishes.
  ///
  /// - Throws: If it is a secret that the store cannot encrypt. Nothing was put in then, unless there are very many documents:
  ///   what signs webhooks comes first.
  package func add(_ item: StoreItem) throws(StoreError) {
    try store.check(item)
    items.append(item)
    if items.count >= Self.batch { try flush() }
  }

  /// Adds a call, at the latest when the import finishes.
  package func add(_ call: ArchivedCall) throws(StoreError) {
    let id = call.record.id
    if waiting[id] != nil {
      tally.known += 1
      return
    }
    waiting[id] = call
    order.append(id)
    waitingBytes += call.payloadBytes
    if order.count >= Self.batch || waitingBytes >= Self.batchBytes { try flush() }
  }

  /// Adds all of a store that can be read and stored again.
  ///
  /// - Parameter damage: Gets what is left out, in a sentence.
  /// - Throws: If one of the stores fails as a whole.
  package func add(allOf source: any ArchiveSource, damage: (String) -> Void) throws(StoreError) {
    for item in try source.items(damage: { damage($0.message) }) { try add(item) }
    var failure: StoreError?
    try source.forEach { call in
      if failure != nil { return }
      do throws(JSONError) {
        // Read as an archive is: so what cannot be stored again is reported here.
        let read = try call.json.withUnsafeBufferPointer { (bytes) throws(JSONError) in
          try ArchivedCall.read(bytes, at: now)
        }
        do throws(StoreError) { try add(read) } catch { failure = error }
      } catch {
        damage("\(call.record.id) cannot be read: \(error.reason).")
      }
    } damage: { error in
      damage(error.message)
    }
    if let failure { throw failure }
  }

  /// Makes everything durable, and closes the store.
  package func finish() throws(StoreError) {
    try flush()
    try store.finish()
    store.close()
  }

  /// The named policies that the store had at the beginning: another store's versions of them are not added to its own.
  private func knownPolicies() throws(StoreError) -> Set<String> {
    if let policies { return policies }
    let contents = try store.contents()
    defer { contents.close() }
    let found = Set(try contents.items { _ in }.compactMap(\.policyName))
    policies = found
    return found
  }

  /// Makes durable what was added.
  func flush() throws(StoreError) {
    if !items.isEmpty {
      let policies = try knownPolicies()
      let new = items.filter { !$0.isVersion(ofOneOf: policies) }
      let added = try store.insert(new)
      tally.items += added
      tally.knownItems += items.count - added
      items.removeAll(keepingCapacity: true)
    }
    if order.isEmpty { return }
    let known = try store.known(order)
    let calls = order.filter { !known.contains($0) }.compactMap { waiting[$0] }
    if !calls.isEmpty { try store.insert(calls, at: now) }
    tally.imported += calls.count
    tally.known += order.count - calls.count
    waiting.removeAll(keepingCapacity: true)
    order.removeAll(keepingCapacity: true)
    waitingBytes = 0
  }
}

/// A store without a service, which gets what an archive has.
package protocol ArchiveDestination: AnyObject {
  /// The store, for messages.
  var place: String { get }

  /// Throws if a thing is a secret that the store cannot encrypt.
  func check(_ item: StoreItem) throws(StoreError)

  /// Reads what is there.
  func contents() throws(StoreError) -> any ArchiveSource

  /// Which of these calls it already has.
  func known(_ ids: [CallID]) throws(StoreError) -> Set<CallID>

  /// Puts in what is about no call, as far as the store has nothing under the same name: all of it or nothing.
  ///
  /// - Returns: How many were put in.
  func insert(_ items: [StoreItem]) throws(StoreError) -> Int

  /// Puts in calls that it does not have, and what belongs to them: all of them or none.
  ///
  /// A call continues if it had the turn of its ordering key, unless a call of this store has that turn now: then it waits
  /// behind that call. A key is left out if it has expired, or if another call was accepted under it and keeps it longer.
  func insert(_ calls: [ArchivedCall], at now: Timestamp) throws(StoreError)

  /// Gives the turns that nobody has, when all calls are there.
  func finish() throws(StoreError)

  /// Ends the use of the store.
  func close()
}

extension StoreItem {
  /// The name of the policy of which it is a version; nil for all else.
  fileprivate var policyName: String? {
    guard case .document(let document) = self, document.kind == .policy, let end = document.id.lastIndex(of: "@") else {
      return nil
    }
    return String(document.id[..<end])
  }

  fileprivate func isVersion(ofOneOf policies: Set<String>) -> Bool { policyName.map(policies.contains) ?? false }
}
