@testable import HTTPServer

/// Any bytes, shown whole and in pieces, come to the same end, and to no crash. The first bytes say where to cut.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let start, count > 3 else { return 0 }
  let input = Array(UnsafeBufferPointer(start: start, count: count))
  let bytes = Array(input.dropFirst(3))
  var cuts: [Int] = []
  var at = 0
  for step in input.prefix(3) {
    at += 1 + Int(step)
    if at < bytes.count { cuts.append(at) }
  }
  let whole = ParserRun(bytes)
  let pieces = ParserRun(bytes, cuts: cuts)
  precondition(whole == pieces, "whole: \(whole)\nin pieces: \(pieces)")
  let streamed = ParserRun(bytes, cuts: cuts, streams: true)
  precondition(whole == streamed, "whole: \(whole)\nstreamed: \(streamed)")
  for request in whole.requests {
    precondition(request.body.utf8.count <= 3 * ParserLimits.small.maxBodyBytes, "a body of \(request.body.utf8.count)")
  }
  return 0
}
