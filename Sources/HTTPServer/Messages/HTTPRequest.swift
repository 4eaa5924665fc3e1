import Glibc

/// A whole request in the connection's buffer. Text is created only on demand.
///
/// It cannot be copied, and the handler only borrows it, so it does not outlive the buffer. The two byte accessors
/// (``body`` and ``forEachHeader(_:)``) rely on the caller for the same.
public struct HTTPRequest: ~Copyable {
  // Sound: the loop keeps the bytes and the slots in place while the handler runs, and runs nothing else meanwhile.
  private let bytes: UnsafePointer<UInt8>
  private let slots: UnsafePointer<FieldSlot>
  private let slotCount: Int
  private let head: RequestHead
  private let descriptor: Int32

  /// The complete body, without chunked coding, and without content coding if the server decodes
  /// (``HTTPServerConfiguration/decodesContent``): then there is no `Content-Encoding` among the fields, and
  /// `Content-Length` counts the bytes as received. Valid during the handler's call.
  public let body: UnsafeRawBufferPointer

  init(
    bytes: UnsafePointer<UInt8>, head: RequestHead, slots: UnsafePointer<FieldSlot>, slotCount: Int,
    body: UnsafeRawBufferPointer, descriptor: Int32
  ) {
    self.bytes = bytes
    self.head = head
    self.slots = slots
    self.slotCount = slotCount
    self.descriptor = descriptor
    self.body = body
  }

  /// The method.
  public var method: HTTPMethod { HTTPMethod(text(head.method)) }

  /// The path as it was sent, without the query and still percent-encoded: visible ASCII. For an absolute URI, only its
  /// path; `*` for the server as a whole (RFC 9112 section 3.2).
  public var path: String {
    if head.hasEmptyPath { return head.isOptions && head.query == nil ? "*" : "/" }
    return text(head.path)
  }

  /// What follows the first `?` of the target, as it was sent; nil without one.
  public var query: String? {
    guard let query = head.query else { return nil }
    return text(query)
  }

  /// The host and port that the request is for, as they were sent: of an absolute-form target, else of the Host field
  /// (RFC 9112 section 3.3). Nil without either, which HTTP/1.0 allows.
  public var authority: String? { head.authority.map { text($0) } ?? header("host") }

  /// The x of HTTP/1.x.
  public var minorVersion: Int { Int(head.minorVersion) }

  /// The announced length of the body; nil if the body is chunked.
  public var contentLength: Int? { head.isChunked ? nil : head.contentLength }

  /// The address of the peer, without its port; empty if the peer has gone, or uses a Unix domain socket. Costs one
  /// system call each time.
  public var peer: String { SocketAddress.peerText(descriptor) }

  /// Whether the request arrived on a Unix domain socket. It stays true when the peer has gone. Costs one system call
  /// each time.
  public var cameByUnixSocket: Bool { SocketAddress.isUnix(descriptor) }

  /// The value of the first field line of that name, without the blanks around it; nil if there is none. Bytes that are
  /// not UTF-8 are replaced. Linear in the number of fields.
  ///
  /// - Parameter lowercaseName: The field's name in lower case; it matches any case.
  public func header(_ lowercaseName: StaticString) -> String? {
    for index in 0..<slotCount {
      let name = slots[index].name
      if ASCII.equal(bytes + Int(name.offset), Int(name.count), lowercaseName) { return text(slots[index].value) }
    }
    return nil
  }

  /// Whether the first field line of that name has exactly that value. This costs less than reading the value.
  ///
  /// - Parameters:
  ///   - lowercaseName: The field's name in lower case; it matches any case.
  ///   - value: The value, without blanks around it; the comparison is case-sensitive.
  public func header(_ lowercaseName: StaticString, is value: StaticString) -> Bool {
    for index in 0..<slotCount {
      let name = slots[index].name
      guard ASCII.equal(bytes + Int(name.offset), Int(name.count), lowercaseName) else { continue }
      let found = slots[index].value
      return Int(found.count) == value.utf8CodeUnitCount
        && memcmp(bytes + Int(found.offset), value.utf8Start, Int(found.count)) == 0
    }
    return false
  }

  /// How many field lines have that name.
  ///
  /// - Parameter lowercaseName: The field's name in lower case; it matches any case.
  public func headerCount(_ lowercaseName: StaticString) -> Int {
    var count = 0
    for index in 0..<slotCount {
      let name = slots[index].name
      if ASCII.equal(bytes + Int(name.offset), Int(name.count), lowercaseName) { count += 1 }
    }
    return count
  }

  /// Passes each field line's name (as sent) and value to `body`, in order. They are valid during the call.
  public func forEachHeader(_ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Void) {
    for index in 0..<slotCount { body(raw(slots[index].name), raw(slots[index].value)) }
  }

  private func raw(_ slice: RequestHead.Slice) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: bytes + Int(slice.offset), count: Int(slice.count))
  }

  private func text(_ slice: RequestHead.Slice) -> String { String(decoding: raw(slice), as: UTF8.self) }
}
