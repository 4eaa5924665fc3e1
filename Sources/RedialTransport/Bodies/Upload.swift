internal import Glibc

/// The body of a handle's current request.
///
/// Sound: only this type, which cannot be copied, has the memory of small bodies. libcurl has its address during the
/// request, and it is freed or allocated anew only for the next request, or after the handle.
struct Upload: ~Copyable {
  /// Larger bodies are sent piece by piece; smaller ones are sent together with the header in one packet.
  private static let mostCopied = 64 * 1024

  /// A body that is passed on at once, in memory that is used again.
  private var small = UnsafeMutableRawBufferPointer.allocate(byteCount: 1024, alignment: 1)
  /// A body that libcurl gets as it needs it, so that it makes no copy.
  private var content: [UInt8] = []
  private var sent = 0
  /// The source of the body, in place of `content`.
  private(set) var feed: BodyFeed?
  /// How much of the body had been sent at the last check.
  private var checked = 0

  init() {}

  deinit { small.deallocate() }

  /// Whether libcurl asks for it piece by piece, so that a response may arrive before it is sent.
  var isPiecewise: Bool { feed != nil || !content.isEmpty }

  /// Begins with a body that is read while it is sent.
  mutating func begin(_ feed: BodyFeed) {
    end()
    self.feed = feed
  }

  /// Begins with a body in memory.
  ///
  /// - Returns: The body for libcurl, if it gets it at once; nil if it asks for it.
  mutating func begin(_ content: [UInt8]) -> UnsafeRawPointer? {
    end()
    guard content.count <= Self.mostCopied else {
      self.content = content
      return nil
    }
    if small.count < content.count {
      small.deallocate()
      small = .allocate(byteCount: content.count, alignment: 1)
    }
    small.copyBytes(from: content)
    return UnsafeRawPointer(small.baseAddress)
  }

  /// Frees the body.
  mutating func end() {
    content = []
    sent = 0
    feed = nil
  }

  /// Writes the next bytes into a room, for a body in memory.
  ///
  /// - Returns: How many; 0 after the last.
  mutating func give(_ room: UnsafeMutablePointer<CChar>, _ size: Int) -> Int {
    let count = min(size, content.count - sent)
    content.withUnsafeBytes { [sent] content in
      guard let base = content.baseAddress, count > 0 else { return }
      memcpy(room, base + sent, count)
    }
    sent += count
    return count
  }

  /// Goes to an offset from the start, to which libcurl returns before it sends the body again.
  mutating func seek(to offset: Int) -> Bool {
    if let feed {
      guard offset == 0 else { return false }
      feed.begin()
      return true
    }
    guard (0...content.count).contains(offset) else { return false }
    sent = offset
    return true
  }

  /// Forgets how much of the request before was sent.
  mutating func beginChecks() { checked = 0 }

  /// Whether no byte was sent since the last check.
  ///
  /// - Parameter sent: How many bytes of the body were sent.
  mutating func isStuck(at sent: Int) -> Bool {
    defer { checked = sent }
    return sent == checked
  }
}
