package import RedialModel

/// Reads request bodies from a store in pieces, from any thread: the memory for a body does not depend on its size.
package protocol BodyReader: Sendable {
  /// What opens sealed bodies.
  var vault: Vault { get }

  /// How a body is stored.
  func form(of id: CallID) throws(StoredBodyError) -> StoredBodyForm

  /// Some bytes of a body in its stored form.
  func bytes(of id: CallID, _ range: Range<Int>) throws(StoredBodyError) -> [UInt8]
}

extension BodyReader {
  /// The body of a call, from its beginning. Nothing is read yet.
  ///
  /// - Parameter size: Its length in bytes, from the call's record.
  package func body(of id: CallID, size: Int) -> StoredBody {
    StoredBody(id: id, size: size, in: self)
  }
}

/// How a body is stored.
package struct StoredBodyForm: Sendable, Hashable {
  /// Its length in the store, in bytes.
  package var storedSize: Int
  /// Its size in bytes if it is compressed in the store; nil if it is not.
  package var inflatedSize: Int?
  /// Whether it is sealed, in chunks.
  package var isSealed: Bool
  /// The checksums of its request; nil if they are not stored.
  package var sums: StoredRequest.Sums?

  /// Creates a form.
  package init(storedSize: Int, inflatedSize: Int?, isSealed: Bool = false, sums: StoredRequest.Sums? = nil) {
    self.isSealed = isSealed
    self.sums = sums
    self.storedSize = storedSize
    self.inflatedSize = inflatedSize
  }
}

/// Why a body cannot be read completely.
package enum StoredBodyError: Error, Sendable, Hashable {
  /// It no longer exists: its call was erased or removed.
  case gone
  /// It differs from its record; the clause says how.
  case damaged(String)
  /// The store cannot be read.
  case unreadable(StoreError)
}
