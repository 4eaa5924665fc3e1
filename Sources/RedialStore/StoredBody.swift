internal import RedialLanes
package import RedialModel

/// The body of one call, read from the store piece by piece, and inflated if it is compressed there.
///
/// `@unchecked Sendable`: the mutable state is the position of reading, and the caller reads on one thread at a time,
/// one after the other, for example on a serial queue.
package final class StoredBody: @unchecked Sendable {
  package let id: CallID
  /// The length of the body, in bytes.
  package let size: Int
  private let bodies: any BodyReader
  private let turn = Turn()
  /// How much has been read, in bytes of the body.
  private var position = 0
  /// How the body is stored; nil until some of it was read.
  private var form: Form?
  /// How a sealed one is read; nil for another.
  private var sealed: SealedReading?
  /// The checksum of what has been read of one that is not sealed; nil if none is stored.
  private var checking: Checking?

  private enum Form {
    case plain
    case compressed(Compressed)
  }

  private struct Compressed {
    let storedSize: Int
    /// How many stored bytes have been read.
    var position = 0
    var stream: InflatingStream
  }

  /// The maximum number of bytes of a compressed body that are read at a time.
  private static let compressedPiece = 32 * 1024

  init(id: CallID, size: Int, in bodies: any BodyReader) {
    self.id = id
    self.size = size
    self.bodies = bodies
  }

  /// Starts again at the first piece.
  package func rewind() {
    turn.begin()
    defer { turn.end() }
    position = 0
    form = nil
    sealed = nil
    checking = nil
  }

  /// The next bytes of the body, in order; none at its end. Blocks while they are read.
  ///
  /// - Parameter count: The maximum number of bytes, 1 or more.
  /// - Throws: Why there are none; earlier pieces remain valid.
  package func next(atMost count: Int) throws(StoredBodyError) -> [UInt8] {
    turn.begin()
    defer { turn.end() }
    let wanted = min(count, size - position)
    guard wanted > 0 else { return [] }
    let piece = try read(wanted)
    position += piece.count
    return piece
  }

  private func read(_ wanted: Int) throws(StoredBodyError) -> [UInt8] {
    if form == nil { form = try begin() }
    switch form {
    case .compressed(var compressed):
      defer { form = .compressed(compressed) }
      return try inflate(wanted, of: &compressed)
    case .plain, nil:
      return try stored(position..<(position + wanted))
    }
  }

  private func begin() throws(StoredBodyError) -> Form {
    var found = try bodies.form(of: id)
    if found.isSealed {
      guard let plain = SealedForm.plainSize(of: found.storedSize) else {
        throw .damaged("it has \(found.storedSize) encrypted bytes, which no body has")
      }
      sealed = SealedReading(size: found.storedSize)
      found.storedSize = plain
    } else if let sums = found.sums {
      let sum = StoredRequest.Sums.beginningOfBody(of: id, inflatedSize: found.inflatedSize.map { Int64($0) })
      checking = Checking(sum: sum, wanted: sums.body, left: found.storedSize)
    }
    guard found.inflatedSize ?? found.storedSize == size else {
      throw .damaged("it has \(found.inflatedSize ?? found.storedSize) bytes where its call says \(size)")
    }
    guard found.inflatedSize != nil else { return .plain }
    return .compressed(Compressed(storedSize: found.storedSize, stream: try InflatingStream()))
  }

  /// Some bytes of the body as it is stored, before it was sealed.
  private func stored(_ range: Range<Int>) throws(StoredBodyError) -> [UInt8] {
    guard sealed != nil else {
      let bytes = try bodies.bytes(of: id, range)
      // The first key of a store may have sealed it since its first piece was read.
      guard bodies.vault.sealsAll, try bodies.form(of: id).isSealed else {
        // Its last piece is not given away if any piece was wrong: a target never gets the whole of another body.
        guard checking?.add(bytes) != false else { throw .damaged("it has another checksum") }
        return bytes
      }
      throw .unreadable(
        StoreError(kind: .unavailable, message: "It was encrypted while it was read. It is tried again."))
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(range.count)
    while bytes.count < range.count {
      let next = range.lowerBound + bytes.count
      let chunk = try chunk(next / SealedForm.chunkBytes)
      let first = next % SealedForm.chunkBytes
      let end = min(chunk.count, first + range.count - bytes.count)
      guard first < end else { throw .damaged("it ends before its last byte") }
      bytes += chunk[first..<end]
    }
    return bytes
  }

  private func chunk(_ number: Int) throws(StoredBodyError) -> [UInt8] {
    guard var reading = sealed else { return [] }
    if reading.number != number {
      let range = SealedForm.range(ofChunk: number, in: reading.size)
      if reading.head.isEmpty { reading.head = try bodies.bytes(of: id, 0..<SealedForm.headBytes) }
      let bytes = try bodies.bytes(of: id, range)
      do throws(SealDamage) {
        reading.plain = try bodies.vault.open(
          chunk: bytes, number, isLast: range.upperBound == reading.size, of: reading.head, .call(id, .body))
      } catch {
        if case .unreadable(let failure) = error { throw .unreadable(failure) }
        // It may have been sealed by a new key since its first chunk was read.
        let head = try bodies.bytes(of: id, 0..<SealedForm.headBytes)
        guard head != reading.head else { throw .damaged(error.reason("it")) }
        sealed?.head = head
        return try chunk(number)
      }
      reading.number = number
      sealed = reading
    }
    return reading.plain
  }

  private func inflate(
    _ wanted: Int, of compressed: inout Compressed
  ) throws(StoredBodyError) -> [UInt8] {
    var piece: [UInt8] = []
    piece.reserveCapacity(wanted)
    // The last piece is valid only if the checksum after it is right.
    let isLast = position + wanted == size
    while piece.count < wanted || isLast && !compressed.stream.hasEnded {
      if compressed.stream.needsMore {
        let end = min(compressed.position + Self.compressedPiece, compressed.storedSize)
        guard compressed.position < end else { throw .damaged("it ends before its last byte") }
        compressed.stream.feed(try stored(compressed.position..<end))
        compressed.position = end
      }
      try compressed.stream.inflate(into: &piece, upTo: wanted)
    }
    return piece
  }
}

/// How a stored checksum is compared with a body that is read in pieces.
private struct Checking {
  var sum: Checksum
  let wanted: UInt32
  /// How many stored bytes are left.
  var left: Int

  /// Adds the next piece. Returns false behind the last one, if the checksum is another.
  mutating func add(_ piece: [UInt8]) -> Bool {
    piece.withUnsafeBytes { sum.add(piece: $0) }
    left -= piece.count
    return left > 0 || sum.value == wanted
  }
}

/// How a sealed body is read: the chunk that was opened last.
private struct SealedReading {
  /// The size of the sealed form.
  let size: Int
  var head: [UInt8] = []
  var number: Int?
  var plain: [UInt8] = []
}
