@testable import HTTPServer

/// A compressed body of any bytes inflates to no more than its bound, or is refused; twice the same.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let start, count > 1 else { return 0 }
  let coding = start[0] & 1 == 0 ? ContentCoding.gzip : .deflate
  let body = UnsafeRawBufferPointer(start: start + 1, count: count - 1)
  let limits = ContentLimits(maxBodyBytes: 8192, maxInflationRatio: 20, inflationFloorBytes: 512)
  var decoder = ContentDecoder(limits: limits)
  var results: [Int?] = []
  for _ in 0..<2 {
    var output = ByteBuffer()
    do throws(ProtocolError) {
      try decoder.decode(body, coding, into: &output)
      precondition(output.count <= limits.bound(of: body.count), "\(output.count) of \(body.count)")
      results.append(output.count)
    } catch {
      results.append(nil)
    }
  }
  precondition(results[0] == results[1], "\(results)")
  return 0
}
