extension [UInt8] {
  /// Appends a whole number in decimal digits.
  package mutating func appendDecimal(_ value: Int64) {
    if value < 0 { append(UInt8(ascii: "-")) }
    var rest = value.magnitude
    let start = count
    repeat {
      append(UInt8(0x30 + rest % 10))
      rest /= 10
    } while rest > 0
    self[start...].reverse()
  }

  /// Appends a whole number in decimal digits, padded with zeros to `width`.
  package mutating func appendDecimal(_ value: Int, width: Int) {
    let start = count
    appendDecimal(Int64(value))
    while count - start < width { insert(0x30, at: start) }
  }
}
