/// See `FuzzedParsers.chunks`.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  if let fault = FuzzedParsers.chunks(Array(UnsafeBufferPointer(start: start, count: count))) { fatalError(fault) }
  return 0
}
