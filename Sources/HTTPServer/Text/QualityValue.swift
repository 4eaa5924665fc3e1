/// A weight in a field such as `Accept`, RFC 9110 section 12.4.2.
public enum QualityValue {
  /// The weight of a text such as `0.5`, in thousandths.
  ///
  /// - Returns: 0 for a text that is not a weight: nothing is sent on a guess.
  public static func thousandths(_ text: some Collection<UInt8>) -> Int {
    var rest = text.makeIterator()
    guard let first = rest.next(), first == 0x30 || first == 0x31 else { return 0 }
    var weight = Int(first - 0x30) * 1000
    guard let point = rest.next() else { return weight }
    guard point == 0x2E, text.count <= 5 else { return 0 }
    var unit = 100
    while let digit = rest.next() {
      guard ASCII.isDigit(digit) else { return 0 }
      weight += Int(digit - 0x30) * unit
      unit /= 10
    }
    return weight <= 1000 ? weight : 0
  }
}
