import Glibc

/// Bytes that are appended at one end and removed at the other. An empty buffer owns no memory until it is used.
///
/// Sound: only this type, which cannot be copied, reaches the memory, and the caller keeps no pointer into it over a
/// call that changes the buffer.
struct ByteBuffer: ~Copyable {
  private var base: UnsafeMutablePointer<UInt8>?
  private var capacity = 0
  private var start = 0
  private var end = 0

  /// The first allocation. A slow sender costs this much after its first bytes.
  private static let initialCapacity = 128

  init() {}

  deinit { base?.deallocate() }

  var count: Int { end - start }
  var isEmpty: Bool { end == start }
  /// The first byte; nil if no memory was reserved yet.
  var bytes: UnsafeMutablePointer<UInt8>? { base.map { $0 + start } }

  /// Makes room for `count` more bytes and returns the address for them.
  mutating func reserve(_ count: Int) -> UnsafeMutablePointer<UInt8> {
    if let base, capacity - end >= count { return base + end }
    let held = end - start
    // Moving pays only if at least as many bytes were removed as are left; otherwise the same bytes would move again
    // and again.
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

  /// Adds bytes that were written at the address that `reserve` returned.
  mutating func commit(_ count: Int) { end += count }

  mutating func append(_ bytes: UnsafePointer<UInt8>, _ count: Int) {
    memcpy(reserve(count), bytes, count)
    end += count
  }

  /// Keeps only a range of the bytes.
  mutating func keep(_ range: Range<Int>) {
    (start, end) = (start + range.lowerBound, start + range.upperBound)
    if start == end { (start, end) = (0, 0) }
  }

  mutating func dropFirst(_ count: Int) { keep(count..<self.count) }

  /// Removes all bytes, and frees memory beyond `kept` bytes.
  mutating func removeAll(keepingAtMost kept: Int) {
    (start, end) = (0, 0)
    if capacity > kept {
      base?.deallocate()
      base = nil
      capacity = 0
    }
  }
}
