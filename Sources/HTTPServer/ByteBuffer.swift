import Glibc

/// Bytes that are appended at one end and dropped at the other. Empty, it owns no memory until it is used.
///
/// Sound: the memory is reached only through this type, which cannot be copied, and the caller keeps no pointer into
/// it over a call that changes the buffer.
struct ByteBuffer: ~Copyable {
  private var base: UnsafeMutablePointer<UInt8>?
  private var capacity = 0
  private var start = 0
  private var end = 0

  /// The first allocation: what a slow sender costs while a few of its bytes are there.
  private static let initialCapacity = 128

  init() {}

  deinit { base?.deallocate() }

  var count: Int { end - start }
  var isEmpty: Bool { end == start }
  /// The first byte; nil if nothing was ever reserved.
  var bytes: UnsafeMutablePointer<UInt8>? { base.map { $0 + start } }

  /// Makes room for `count` more bytes and answers where they go.
  mutating func reserve(_ count: Int) -> UnsafeMutablePointer<UInt8> {
    if let base, capacity - end >= count { return base + end }
    let held = end - start
    // Moving pays only if at least as much was dropped as is held; else the same bytes would move again and again.
    if let base, capacity - held >= count, start >= held {
      memmove(base, base + start, held)
      (start, end) = (0, held)
      return base + held
    }
    var grown = base == nil ? Self.initialCapacity : capacity * 2
    while grown - held < count { grown *= 2 }
    let fresh = UnsafeMutablePointer<UInt8>.allocate(capacity: grown)
    if let base {
      memcpy(fresh, base + start, held)
      base.deallocate()
    }
    base = fresh
    capacity = grown
    (start, end) = (0, held)
    return fresh + held
  }

  /// How many bytes fit without an allocation.
  var spareCapacity: Int { capacity - end }

  /// Takes over bytes that were written where `reserve` said.
  mutating func commit(_ count: Int) { end += count }

  mutating func append(_ bytes: UnsafePointer<UInt8>, _ count: Int) {
    memcpy(reserve(count), bytes, count)
    end += count
  }

  /// Keeps a range of what is held.
  mutating func keep(_ range: Range<Int>) {
    (start, end) = (start + range.lowerBound, start + range.upperBound)
    if start == end { (start, end) = (0, 0) }
  }

  mutating func dropFirst(_ count: Int) { keep(count..<self.count) }

  /// Forgets what is held, and gives memory beyond `kept` bytes back.
  mutating func removeAll(keepingAtMost kept: Int) {
    (start, end) = (0, 0)
    if capacity > kept {
      base?.deallocate()
      base = nil
      capacity = 0
    }
  }
}
