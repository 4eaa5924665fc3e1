@testable import HTTPServer

/// What the fuzzers of the server's parsers check, for `Scripts/fuzz` and for a unit test. Each returns the fault, or nil.
enum FuzzedParsers {
  /// Any bytes, shown whole and in pieces, come to the same end, and to no crash. The first bytes say where to cut.
  static func requests(_ input: [UInt8]) -> String? {
    guard input.count > 3 else { return nil }
    let bytes = Array(input.dropFirst(3))
    var cuts: [Int] = []
    var at = 0
    for step in input.prefix(3) {
      at += 1 + Int(step)
      if at < bytes.count { cuts.append(at) }
    }
    let whole = ParserRun(bytes)
    let pieces = ParserRun(bytes, cuts: cuts)
    if whole != pieces { return "whole: \(whole)\nin pieces: \(pieces)" }
    let streamed = ParserRun(bytes, cuts: cuts, streams: true)
    if whole != streamed { return "whole: \(whole)\nstreamed: \(streamed)" }
    let longest = whole.requests.map(\.body.utf8.count).max() ?? 0
    return longest > 3 * ParserLimits.small.maxBodyBytes ? "a body of \(longest)" : nil
  }

  /// A chunked body of any bytes decodes to the same, whole and byte by byte, or is refused both times, and never
  /// beyond its bound.
  static func chunks(_ body: [UInt8]) -> String? {
    guard !body.isEmpty, body.count < 4096 else { return nil }
    let request = Array("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n".utf8) + body
    let whole = ParserRun(request)
    let bytewise = ParserRun(request, cuts: Array(1..<request.count))
    if whole != bytewise { return "whole: \(whole)\nbytewise: \(bytewise)" }
    let streamed = ParserRun(request, cuts: Array(1..<request.count), streams: true)
    return whole == streamed ? nil : "whole: \(whole)\nstreamed: \(streamed)"
  }

  /// A compressed body of any bytes inflates to no more than its bound, or is refused; twice the same. The first byte
  /// says which coding it is.
  static func compressed(_ input: [UInt8]) -> String? {
    guard let first = input.first, input.count > 1 else { return nil }
    let coding = first & 1 == 0 ? ContentCoding.gzip : .deflate
    let limits = ContentLimits(maxBodyBytes: 8192, maxInflationRatio: 20, inflationFloorBytes: 512)
    var decoder = ContentDecoder(limits: limits)
    var results: [Int?] = []
    for _ in 0..<2 {
      var output = ByteBuffer()
      let count: Int? = input.dropFirst().withUnsafeBytes { body in
        do throws(ProtocolError) {
          try decoder.decode(body, coding, into: &output)
          return output.count
        } catch {
          return nil
        }
      }
      if let count, count > limits.bound(of: input.count - 1) { return "\(count) of \(input.count - 1)" }
      results.append(count)
    }
    return results[0] == results[1] ? nil : "\(results)"
  }
}
