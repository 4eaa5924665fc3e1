@testable import RedialModel

/// What the fuzzer of descriptors checks, for `Scripts/fuzz` and for a unit test.
enum FuzzedDescriptors {
  /// A descriptor of any bytes is read or refused; what is read can be stored, and reads as the same again.
  ///
  /// - Returns: The fault, or nil.
  static func fault(_ input: [UInt8]) -> String? {
    guard let descriptor = input.withUnsafeBufferPointer({ try? CallDescriptor.read($0) }) else { return nil }
    let stored = descriptor.spec.canonicalJSON
    let again = stored.withUnsafeBufferPointer { (try? CallSpec.read(canonicalJSON: $0))?.canonicalJSON }
    return again == stored ? nil : "stored: \(String(decoding: stored, as: UTF8.self))"
  }
}
