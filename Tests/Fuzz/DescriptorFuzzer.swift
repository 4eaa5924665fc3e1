@testable import RedialModel

/// A descriptor of any bytes is read or refused; what is read can be stored, and reads as the same again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let start else { return 0 }
  let bytes = UnsafeBufferPointer(start: start, count: count)
  guard let descriptor = try? CallDescriptor.read(bytes) else { return 0 }
  let stored = descriptor.spec.canonicalJSON
  let again = stored.withUnsafeBufferPointer { text -> [UInt8]? in
    (try? CallSpec.read(canonicalJSON: text))?.canonicalJSON
  }
  precondition(again == stored, "stored: \(String(decoding: stored, as: UTF8.self))")
  return 0
}
