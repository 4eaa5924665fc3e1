/// Compares the codings that a client lists in `Accept-Encoding`, RFC 9110 section 12.5.3.
struct AcceptEncoding: Equatable {
  /// The form in which the client wants its answer.
  enum Preference: UInt8, Equatable {
    case identity
    case gzip
    /// The client refuses an answer without coding.
    case gzipOnly
  }

  /// Weights in thousandths; nil for a coding that is not listed.
  private var gzip: Int?
  private var identity: Int?
  private var others: Int?

  /// Reads one field; several fields form one list.
  mutating func read(_ value: UnsafePointer<UInt8>, _ count: Int) {
    var index = 0
    while let element = Framing.element(value, count, &index) {
      var nameEnd = element.lowerBound
      while nameEnd < element.upperBound, value[nameEnd] != ASCII.semicolon { nameEnd += 1 }
      let weight = Self.weight(value, from: nameEnd, to: element.upperBound)
      while nameEnd > element.lowerBound, ASCII.isBlank(value[nameEnd - 1]) { nameEnd -= 1 }
      let (name, length) = (value + element.lowerBound, nameEnd - element.lowerBound)
      // If a coding is listed twice, the lower weight counts.
      if ASCII.equal(name, length, "gzip") || ASCII.equal(name, length, "x-gzip") {
        gzip = min(gzip ?? weight, weight)
      } else if ASCII.equal(name, length, "identity") {
        identity = min(identity ?? weight, weight)
      } else if ASCII.equal(name, length, "*") {
        others = min(others ?? weight, weight)
      }
    }
  }

  /// The result of all fields together. `*` stands for every coding that is not listed. A client that accepts neither
  /// form gets the plain one, as RFC 9110 section 12.4.1 allows: an answer that it may understand is more useful than a
  /// 406.
  var preference: Preference {
    let gzip = gzip ?? others ?? 0
    guard gzip > 0, gzip >= identity ?? others ?? 0 else { return .identity }
    return (identity ?? others) == 0 ? .gzipOnly : .gzip
  }

  /// The weight `OWS ";" OWS "q=" qvalue` of RFC 9110 section 12.4.2 in thousandths: 1000 without one, and 0 for a
  /// weight that is not valid, because no coding is sent on a guess.
  private static func weight(_ value: UnsafePointer<UInt8>, from start: Int, to end: Int) -> Int {
    guard start < end else { return 1000 }
    var index = start + 1
    while index < end, ASCII.isBlank(value[index]) { index += 1 }
    guard end - index > 2, ASCII.lowercased(value[index]) == 0x71, value[index + 1] == 0x3D else { return 0 }
    index += 2
    return QualityValue.thousandths(UnsafeBufferPointer(start: value + index, count: end - index))
  }
}
