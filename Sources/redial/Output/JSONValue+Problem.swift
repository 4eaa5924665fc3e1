import RedialModel

extension JSONValue {
  /// A problem of the service in its own words: the detail, and behind it each fault with its place, unless the detail says
  /// the only one. Nil for something else.
  var problemText: String? {
    guard let detail = self["detail"].escapedText else { return nil }
    let faults = self["errors"].elements.map(\.faultText)
    let isSaid = faults.count == 1 && detail.lowercased().hasPrefix(faults[0].lowercased())
    return ([detail] + (isSaid ? [] : faults)).joined(separator: "\n  ")
  }

  private var faultText: String {
    let detail = self["detail"].escapedText ?? ""
    for kind in Problem.Place.Kind.allCases {
      if let name = self[kind.rawValue].escapedText { return "\(Problem.Place(kind, name)) \(detail)" }
    }
    return detail
  }
}
