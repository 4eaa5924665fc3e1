import CZlib

/// Bytes in the format of gzip; none if zlib fails.
func gzip(_ bytes: [UInt8]) -> [UInt8] {
  var stream = z_stream()
  guard redial_gzip_init(&stream, 9) == Z_OK else { return [] }
  defer { deflateEnd(&stream) }
  var output = [UInt8](repeating: 0, count: bytes.count + bytes.count / 1000 + 1024)
  return bytes.withUnsafeBufferPointer { source in
    output.withUnsafeMutableBufferPointer { target in
      stream.next_in = source.baseAddress
      stream.avail_in = UInt32(source.count)
      stream.next_out = target.baseAddress
      stream.avail_out = UInt32(target.count)
      guard deflate(&stream, Z_FINISH) == Z_STREAM_END else { return [] }
      return Array(target.prefix(target.count - Int(stream.avail_out)))
    }
  }
}
