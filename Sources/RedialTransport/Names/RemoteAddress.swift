internal import Glibc
internal import RedialModel

/// The remote address of a handle's requests, parsed from text only when it differs from that of the request before.
struct RemoteAddress {
  private var last: (text: [CChar], address: IPAddress)?

  /// The address that a zero-terminated text names; nil if it is not an address.
  mutating func address(_ text: UnsafePointer<CChar>) -> IPAddress? {
    if let last, last.text.withUnsafeBufferPointer({ strcmp($0.baseAddress ?? text, text) == 0 }) {
      return last.address
    }
    guard let address = IPAddress(canonical: String(cString: text)) else { return nil }
    last = (Array(UnsafeBufferPointer(start: text, count: strlen(text) + 1)), address)
    return address
  }
}
