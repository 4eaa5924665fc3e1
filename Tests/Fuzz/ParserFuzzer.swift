/// See `FuzzedParsers.requests`.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  if let fault = FuzzedParsers.requests(Array(UnsafeBufferPointer(start: start, count: count))) { fatalError(fault) }
  return 0
}
