/// See `FuzzedParsers.compressed`.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  if let fault = FuzzedParsers.compressed(Array(UnsafeBufferPointer(start: start, count: count))) { fatalError(fault) }
  return 0
}
