internal import RedialCore
internal import RedialModel
internal import RedialStore
internal import RedialText

/// A request's parsed query. The code that knows a parameter removes it.
struct QueryParameters {
  /// Parameters that may occur more than once: their values form one list, separated by commas.
  private static let lists = ["state"]
  /// Parameters with a time, which never has a space: a plus sign of its offset means itself.
  private static let times = ["createdAfter", "createdBefore", "nextAttemptBefore", "returnsAt", "since", "until"]

  private var values: [String: String] = [:]
  /// The labels, of which there may be several: all of them count.
  private var labels: [String] = []

  /// - Throws: A problem for a query that is malformed or has a parameter twice.
  init(_ query: String?) throws(Problem) {
    for pair in (query ?? "").split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = Self.text(parts[0]) else {
        throw Self.problem(String(parts[0]), "is not percent-encoded UTF-8")
      }
      guard let value = parts.count > 1 ? Self.text(parts[1], of: name) : "" else {
        throw Self.problem(name, "has a value that is not percent-encoded UTF-8")
      }
      if name == "label" {
        labels.append(value)
      } else if Self.lists.contains(name), let earlier = values[name] {
        values[name] = "\(earlier),\(value)"
      } else {
        guard values.updateValue(value, forKey: name) == nil else { throw Self.problem(name, "is given twice") }
      }
    }
  }

  /// A name or a value. A plus sign is a space, as most clients send it (application/x-www-form-urlencoded).
  private static func text(_ part: Substring, of name: String = "") -> String? {
    let isPlain = times.contains(name) || !part.utf8.contains(UInt8(ascii: "+"))
    return PercentCoding.decode(isPlain ? part : part.replacing("+", with: " ")[...])
  }

  /// Removes a parameter.
  mutating func take(_ name: String) -> String? {
    values.removeValue(forKey: name)
  }

  /// Removes a Boolean parameter; false if it is missing, true if it has no value.
  mutating func takeFlag(_ name: String) throws(Problem) -> Bool {
    switch take(name) {
    case nil, "false": return false
    case "true", "": return true
    default: throw Self.problem(name, "must be true or false")
    }
  }

  /// Checks that every parameter was removed.
  ///
  /// - Throws: A problem that names one that was not.
  func finish() throws(Problem) {
    if let name = labels.isEmpty ? values.keys.min() : "label" {
      throw Self.problem(name, "is not a parameter of this operation")
    }
  }

  static func problem(_ name: String, _ detail: String) -> Problem {
    Problem(.invalidParameter, at: .init(.parameter, name), detail)
  }
}

extension QueryParameters {
  /// Removes the length of a page; the usual one if there is none.
  ///
  /// - Throws: A problem that names the parameter.
  mutating func takeLimit(_ size: PageSize) throws(Problem) -> Int {
    guard let text = take("limit") else { return size.usual }
    guard let limit = Int(text), (1...size.most).contains(limit) else {
      throw Self.problem("limit", "must be a whole number from 1 to \(size.most)")
    }
    return limit
  }

  /// Removes a parameter with one or several words, separated by commas; empty if there is none.
  ///
  /// - Throws: A problem that names the parameter.
  mutating func takeWords<Word: RawRepresentable<String> & CaseIterable & Hashable>(
    _ name: String, of type: Word.Type
  ) throws(Problem) -> Set<Word> {
    var words: Set<Word> = []
    for text in take(name)?.split(separator: ",", omittingEmptySubsequences: false) ?? [] {
      guard let word = Word(rawValue: String(text)) else {
        let known = Word.allCases.map(\.rawValue).joined(separator: ", ")
        throw Self.problem(name, "must be one of \(known), or several, separated by commas")
      }
      words.insert(word)
    }
    return words
  }

  /// Removes the labels that select calls.
  ///
  /// - Throws: A problem that names the parameter.
  mutating func takeLabels(of filter: inout CallFilter) throws(Problem) {
    for text in labels {
      if let fault = filter.set("label", to: text, at: .epoch) { throw Self.problem("label", fault) }
    }
    labels = []
  }

  /// Removes the parameters that select calls.
  ///
  /// - Parameter now: From when durations count.
  /// - Throws: A problem that names the wrong parameter.
  mutating func takeConditions(of filter: inout CallFilter, at now: Timestamp) throws(Problem) {
    for name in values.keys.sorted() where CallFilter.names.contains(name) {
      guard let text = take(name) else { continue }
      if let fault = filter.set(name, to: text, at: now) { throw Self.problem(name, fault) }
    }
    try takeLabels(of: &filter)
    if let name = filter.contradiction {
      throw Self.problem(
        name, "selects scheduled calls, and the state is another: name scheduled, or leave the state out")
    }
  }
}

extension CallQuery {
  /// Reads which calls to list.
  ///
  /// - Parameter now: From when durations count.
  /// - Throws: A problem that names the wrong parameter.
  init(parameters query: String?, at now: Timestamp) throws(Problem) {
    self.init()
    var parameters = try QueryParameters(query)
    try parameters.takeConditions(of: &filter, at: now)
    limit = try parameters.takeLimit(.calls)
    if let text = parameters.take("cursor") {
      guard let before = CallID(text) else {
        throw QueryParameters.problem("cursor", "must be the nextCursor of an earlier page")
      }
      self.before = before
    }
    try parameters.finish()
  }
}

extension TargetQuery {
  /// Reads which targets to list.
  ///
  /// - Throws: A problem that names the wrong parameter.
  init(parameters query: String?, in namespace: Namespace) throws(Problem) {
    self.init(namespace: namespace)
    guard let query else { return }
    var parameters = try QueryParameters(query)
    limit = try parameters.takeLimit(.targets)
    after = parameters.take("cursor").map { TargetKey($0, in: namespace) }
    switch parameters.take("active") {
    case nil, "false": break
    case "true", "": isActive = true
    default: throw QueryParameters.problem("active", "must be true or false")
    }
    try parameters.finish()
  }
}
