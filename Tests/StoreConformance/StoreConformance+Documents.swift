import RedialModel
package import RedialStore
import Testing

extension StoreConformance {
  /// The documents of a kind are read in parts, the highest ids first, and the lowest are removed.
  package static func oldDocuments(_ store: any DocumentStore, _ reader: any CallReader) throws {
    let all = (1...6).map { StoredDocument(.audit, id: "a\($0)", [UInt8($0)]) }
    try store.commit(all.map { .add($0) } + [.put(StoredDocument(.policy, id: "a1", [9]))])
    #expect(try reader.documents(.audit, in: "a"..<"b", limit: 10) == all.reversed())
    #expect(try reader.documents(.audit, in: "a2"..<"a5", limit: 2).map(\.id) == ["a4", "a3"])
    #expect(try reader.documents(.audit, in: "a2"..<"a2", limit: 2).isEmpty)
    #expect(try store.removeDocuments(.audit, below: "a2", keeping: .max) == 1)
    #expect(try store.removeDocuments(.audit, below: "a", keeping: 5) == 0)
    #expect(try store.removeDocuments(.audit, below: "a", keeping: 2) == 3)
    #expect(try store.removeDocuments(.audit, below: "a6", keeping: 2) == 1)
    #expect(try reader.documents(.audit, in: "a"..<"b", limit: 10).map(\.id) == ["a6"])
    #expect(try store.document(.policy, id: "a1") == [9])
  }

  /// A document is changed as it is in the store: what another has changed meanwhile stays, and what another has removed is not
  /// there again.
  ///
  /// - Parameters:
  ///   - store: The store through which documents are changed.
  ///   - other: The same store, or another instance on the same database.
  package static func documents(_ store: any DocumentStore, besides other: any DocumentStore) throws {
    let kind = StoredDocument.Kind.notice
    #expect(try store.document(kind, id: "a") == nil)
    #expect(try !store.changeDocument(kind, id: "a") { _ in [9] })
    #expect(try store.documents(kind).isEmpty)

    try store.commit([.put(StoredDocument(kind, id: "a", [1]))])
    try store.commit([.put(StoredDocument(.apiKey, id: "a", [7]))])
    try store.commit([.put(StoredDocument(kind, id: "b", [8]))])
    #expect(try other.document(kind, id: "a") == [1])
    #expect(try !store.replaceDocument(kind, id: "a", [2], with: [3]))
    #expect(try other.document(kind, id: "a") == [1])
    #expect(try store.replaceDocument(kind, id: "a", [1], with: [2]))
    #expect(try other.document(kind, id: "a") == [2])

    // A document that is added replaces none.
    #expect(throws: StoreError.self) {
      try store.commit([.put(StoredDocument(kind, id: "c", [3])), .add(StoredDocument(kind, id: "a", [9]))])
    }
    #expect(try other.documents(kind) == [StoredDocument(kind, id: "a", [2]), StoredDocument(kind, id: "b", [8])])
    try store.commit([.remove(kind, id: "none"), .add(StoredDocument(kind, id: "c", [3])), .remove(kind, id: "c")])

    // Another changes it between the read and the write.
    var seen: [[UInt8]] = []
    let isThere = try store.changeDocument(kind, id: "a") { content in
      seen.append(content)
      if seen.count == 1 { try other.commit([.put(StoredDocument(kind, id: "a", content + [4]))]) }
      return content + [5]
    }
    #expect(isThere)
    #expect(seen == [[2], [2, 4]])
    #expect(try other.document(kind, id: "a") == [2, 4, 5])

    // Nil leaves it as it is.
    #expect(try store.changeDocument(kind, id: "a") { _ in nil })
    #expect(try other.document(kind, id: "a") == [2, 4, 5])

    // Another removes it between the read and the write.
    let isStillThere = try store.changeDocument(kind, id: "a") { content in
      try other.commit([.remove(kind, id: "a")])
      return content + [6]
    }
    #expect(!isStillThere)
    #expect(try store.document(kind, id: "a") == nil)
    #expect(try store.document(.apiKey, id: "a") == [7])
    #expect(try store.document(kind, id: "b") == [8])
  }
}
