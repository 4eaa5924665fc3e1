internal import CDocuments

/// The files that are part of the program.
enum Document {
  /// A copy of a file's bytes. They are constant, and live as long as the program.
  static func bytes(of document: redial_document) -> [UInt8] {
    Array(UnsafeBufferPointer(start: document.bytes, count: document.count))
  }
}
