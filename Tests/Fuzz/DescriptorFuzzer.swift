/// See `FuzzedDescriptors.fault`.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  if let fault = FuzzedDescriptors.fault(Array(UnsafeBufferPointer(start: start, count: count))) { fatalError(fault) }
  return 0
}
