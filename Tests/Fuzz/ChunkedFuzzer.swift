@testable import HTTPServer

/// A chunked body of any bytes decodes to the same, whole and byte by byte, or is refused both times, and never
/// beyond its bound.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let start, count > 0, count < 4096 else { return 0 }
  let body = Array(UnsafeBufferPointer(start: start, count: count))
  let request = Array("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n".utf8) + body
  let whole = ParserRun(request)
  let bytewise = ParserRun(request, cuts: Array(1..<request.count))
  precondition(whole == bytewise, "whole: \(whole)\nbytewise: \(bytewise)")
  let streamed = ParserRun(request, cuts: Array(1..<request.count), streams: true)
  precondition(whole == streamed, "whole: \(whole)\nstreamed: \(streamed)")
  return 0
}
