package import RedialModel

/// All that a store has, read in the form in which it travels: what is about no call first, and then the calls by age.
///
/// A service may be using the store. Each call is read as of one moment, but not all as of the same one, unless the source
/// says so.
package protocol ArchiveSource: AnyObject {
  /// The store, for messages.
  var place: String { get }

  /// What opens its values, and seals an archive of it.
  var vault: Vault { get }

  /// What is about no call, ordered.
  ///
  /// - Parameter damage: Is called with the reason if a part cannot be read, which does not stop the others.
  /// - Throws: If the store cannot be read.
  func items(damage: (StoreError) -> Void) throws(StoreError) -> [StoreItem]

  /// How many calls there are, about.
  func callCount() throws(StoreError) -> Int

  /// The next calls by id.
  ///
  /// - Parameter last: The id after which they begin; nil for the beginning.
  /// - Throws: If the store cannot be read.
  func page(after last: CallID?) throws(StoreError) -> ArchivePage

  /// Ends the connections.
  func close()
}

/// Some calls of a store, in order.
package struct ArchivePage: Sendable {
  package var calls: [Result<ArchivedCall, DamagedCall>]
  /// The id up to which the store was read; nil if there is nothing behind it.
  package var end: CallID?
  /// What else cannot be read.
  package var damage: [StoreError] = []

  /// Creates a page.
  package init(calls: [Result<ArchivedCall, DamagedCall>], end: CallID?, damage: [StoreError] = []) {
    self.calls = calls
    self.end = end
    self.damage = damage
  }
}

extension ArchiveSource {
  /// Calls `body` with each call, and `damage` with the reason if one cannot be read, which does not stop the others.
  ///
  /// - Throws: If the store cannot be read.
  package func forEach(_ body: (ArchivedCall) -> Void, damage: (StoreError) -> Void) throws(StoreError) {
    var last: CallID?
    repeat {
      let page = try page(after: last)
      for error in page.damage { damage(error) }
      for call in page.calls {
        switch call {
        case .success(let call): body(call)
        case .failure(let call): damage(call.error)
        }
      }
      last = page.end
    } while last != nil
  }
}

/// The calls of a source, one after another.
struct ArchiveCursor {
  private let source: any ArchiveSource
  private var page = ArchivePage(calls: [], end: nil)
  private var place = 0
  private var isAtStart = true

  init(_ source: any ArchiveSource) {
    self.source = source
  }

  /// The next call; nil behind the last one.
  ///
  /// - Throws: If a call cannot be read, too.
  mutating func next() throws(StoreError) -> ArchivedCall? {
    while place == page.calls.count {
      if !isAtStart, page.end == nil { return nil }
      page = try source.page(after: page.end)
      (place, isAtStart) = (0, false)
      if let damage = page.damage.first { throw damage }
    }
    defer { place += 1 }
    switch page.calls[place] {
    case .success(let call): return call
    case .failure(let call): throw call.error
    }
  }
}
