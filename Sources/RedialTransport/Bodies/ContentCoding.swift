internal import CZlib
internal import RedialModel

/// A coding of a response's content that can be undone (RFC 9110 §8.4.1).
///
/// It is undone here, not by libcurl: for libcurl a body that is not what its `Content-Encoding` says is a failure of the
/// transfer, although the whole response has arrived.
enum ContentCoding {
  case gzip
  case deflate

  /// Content without its codings.
  struct Plain {
    var bytes: [UInt8]
    /// Whether there is more of it.
    var isCut: Bool
  }

  /// More codings than this are undone by nobody: each costs the time and the memory of one.
  private static let maximumCodings = 4

  /// How many bytes of a coded body are enough to get `count` bytes of its content. Content that cannot be compressed
  /// becomes longer, by a header and by a few bytes for each block.
  static func codedBytes(for count: Int) -> Int { count + count / 64 + 256 }

  /// The codings of a response, in the order in which they were applied.
  ///
  /// - Returns: Nil if one of them cannot be undone; none if the content has no coding.
  static func codings(of head: HeaderBlock) -> [ContentCoding]? {
    var found: [ContentCoding]? = []
    head.forEach { name, value in
      guard String(decoding: name, as: UTF8.self).lowercased() == "content-encoding" else { return }
      for element in String(decoding: value, as: UTF8.self).lowercased().split(separator: ",") {
        switch element.trimmed {
        case "gzip", "x-gzip": found?.append(.gzip)
        case "deflate": found?.append(.deflate)
        case "", "identity", "none": break
        default: found = nil
        }
      }
    }
    guard let found, found.count <= maximumCodings else { return nil }
    return found
  }

  /// Undoes codings.
  ///
  /// - Parameters:
  ///   - isWhole: Whether these are all bytes of the body.
  ///   - limit: The maximum number of bytes to return.
  /// - Returns: Nil if the body is not in these codings.
  static func decode(_ body: [UInt8], _ codings: [ContentCoding], isWhole: Bool, atMost limit: Int) -> Plain? {
    var plain = Plain(bytes: body, isCut: !isWhole)
    for (place, coding) in codings.enumerated().reversed() {
      let room = place == 0 ? limit : codedBytes(for: limit)
      guard let next = coding.decode(plain.bytes, isWhole: !plain.isCut, atMost: room) else { return nil }
      plain = next
    }
    return plain
  }

  private func decode(_ bytes: [UInt8], isWhole: Bool, atMost limit: Int) -> Plain? {
    switch self {
    case .gzip: Inflation(bytes, isWhole: isWhole, atMost: limit, .gzip).plain
    // Some servers leave out the frame of zlib (RFC 9110 §8.4.1.2).
    case .deflate:
      Inflation(bytes, isWhole: isWhole, atMost: limit, .zlib).plain
        ?? Inflation(bytes, isWhole: isWhole, atMost: limit, .bare).plain
    }
  }
}

/// One run of zlib over a body.
private struct Inflation {
  /// What is around the compressed bytes.
  enum Frame: Int32 {
    case bare = -15
    case zlib = 15
    case gzip = 31
  }

  /// The content; nil if the bytes are not what they are said to be.
  private(set) var plain: ContentCoding.Plain?

  /// How much the output grows at a time, at most.
  private static let step = 64 * 1024

  init(_ bytes: [UInt8], isWhole: Bool, atMost limit: Int, _ frame: Frame) {
    var stream = z_stream()
    guard redial_inflate_init(&stream, frame.rawValue) == Z_OK else { return }
    defer { inflateEnd(&stream) }
    var output: [UInt8] = []
    plain = bytes.withUnsafeBufferPointer { source -> ContentCoding.Plain? in
      stream.next_in = source.baseAddress
      stream.avail_in = UInt32(clamping: source.count)
      while true {
        // A byte more than is wanted shows that there is more.
        let room = min(Self.step, limit + 1 - output.count)
        guard room > 0 else { return ContentCoding.Plain(bytes: Array(output.prefix(limit)), isCut: true) }
        var result = Z_OK
        let piece = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
          stream.next_out = buffer.baseAddress
          stream.avail_out = UInt32(clamping: room)
          result = inflate(&stream, Z_NO_FLUSH)
          count = room - Int(stream.avail_out)
        }
        output += piece
        switch result {
        case Z_STREAM_END where output.count <= limit:
          // Several members are one content (RFC 1952 §2.2); what else is behind one means nothing.
          if frame == .gzip, Self.isMember(stream), inflateReset(&stream) == Z_OK { continue }
          // Without a frame nothing proves that this was compressed, unless it ends where the body does.
          guard frame != .bare || Self.isPadding(stream) else { return nil }
          return ContentCoding.Plain(bytes: output, isCut: false)
        case Z_OK, Z_STREAM_END: continue
        // All input is used, and it is not the end.
        case Z_BUF_ERROR where !isWhole && stream.avail_in == 0: return ContentCoding.Plain(bytes: output, isCut: true)
        default: return nil
        }
      }
    }
  }

  private static func isMember(_ stream: z_stream) -> Bool {
    stream.avail_in > 2 && stream.next_in[0] == 0x1F && stream.next_in[1] == 0x8B
  }

  private static func isPadding(_ stream: z_stream) -> Bool {
    UnsafeBufferPointer(start: stream.next_in, count: Int(stream.avail_in)).allSatisfy { $0 == 0 }
  }
}

extension Substring {
  fileprivate var trimmed: Substring {
    var rest = drop { $0 == " " || $0 == "\t" }
    while let last = rest.last, last == " " || last == "\t" { rest.removeLast() }
    return rest
  }
}
