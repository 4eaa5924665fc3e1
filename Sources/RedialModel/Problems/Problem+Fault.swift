package import RedialJSON

extension Problem {
  /// One wrong place in the input.
  public struct Fault: Sendable, Hashable {
    /// Where it is.
    public var place: Place
    /// What is wrong there, as a clause that continues the place.
    public var detail: String

    /// A fault at a place.
    public init(_ place: Place, detail: String) {
      self.place = place
      self.detail = detail
    }

    /// A fault in the request body, at this JSON Pointer (RFC 6901).
    public init(pointer: String, detail: String) {
      self.init(Place(.pointer, pointer), detail: detail)
    }

    /// A fault in this query parameter.
    public init(parameter: String, detail: String) {
      self.init(Place(.parameter, parameter), detail: detail)
    }

    /// A fault in this header field.
    public init(header: String, detail: String) {
      self.init(Place(.header, header), detail: detail)
    }

    /// The JSON Pointer into the request body; nil if the fault is elsewhere.
    public var pointer: String? { place.kind == .pointer ? place.name : nil }
    /// The query parameter; nil if the fault is elsewhere.
    public var parameter: String? { place.kind == .parameter ? place.name : nil }
    /// The header field; nil if the fault is elsewhere.
    public var header: String? { place.kind == .header ? place.name : nil }

    /// The fault as a clause.
    public var clause: String { "\(place) \(detail)" }

    /// The fault as a sentence without its end.
    fileprivate var words: String {
      let clause = clause
      // A pointer is as it is.
      return clause.hasPrefix("/") ? clause : clause.prefix(1).uppercased() + clause.dropFirst()
    }
  }

  /// A place in the input.
  public struct Place: Sendable, Hashable, CustomStringConvertible {
    /// What a place is in, by the name of its member in a problem.
    public enum Kind: String, CaseIterable, Sendable {
      /// In the request body.
      case pointer
      /// In the query.
      case parameter
      /// In the header section.
      case header
    }

    public var kind: Kind
    /// A JSON Pointer, or the name of a parameter or of a field.
    public var name: String

    /// Creates a place.
    public init(_ kind: Kind, _ name: String) {
      self.kind = kind
      self.name = name
    }

    /// The place, as the beginning of a clause for people.
    public var description: String {
      switch kind {
      case .pointer: name.isEmpty ? "the body" : name
      case .parameter: "the parameter \(name)"
      case .header: "the field \(name)"
      }
    }
  }
}

extension Problem {
  /// 400: a body that is not JSON.
  ///
  /// - Parameter expected: What it should be.
  package static func invalidJSON(_ error: JSONError, expected: String = "valid JSON") -> Problem {
    Problem(
      .invalidJSON, detail: "The body \(error.clause(expected: expected)).",
      errors: [Fault(pointer: "", detail: error.clause(expected: expected))])
  }

  /// A problem that its faults explain: the first of them, and how many more there are.
  ///
  /// - Parameter count: The number of all faults, if not all are listed.
  init?(_ code: ProblemCode, status: Int? = nil, faults: [Fault], of count: Int? = nil) {
    guard let first = faults.first else { return nil }
    let more = (count ?? faults.count) - 1
    self.init(
      code, status: status, detail: more == 0 ? "\(first.words)." : "\(first.words), and \(more) more; see errors.",
      errors: faults)
  }

  /// The same problem, with its faults as the client sees them.
  package func restated(_ restate: (Fault) -> Fault) -> Problem {
    var problem = self
    problem.errors = errors.map(restate)
    if let old = errors.first?.words, let new = problem.errors.first?.words, detail.hasPrefix(old) {
      problem.detail = new + detail.dropFirst(old.count)
    }
    return problem
  }

  /// A problem with one fault.
  public init(_ code: ProblemCode, status: Int? = nil, at place: Place, _ detail: String) {
    let fault = Fault(place, detail: detail)
    self.init(code, status: status, detail: "\(fault.words).", errors: [fault])
  }
}
