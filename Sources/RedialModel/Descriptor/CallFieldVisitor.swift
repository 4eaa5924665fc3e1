internal import RedialJSON

/// What is done with each field of a call, see ``CallFields/visit(_:_:_:)``.
protocol CallFieldVisitor: ~Copyable {
  associatedtype Failure: Error

  /// - Parameters:
  ///   - name: The member's name, in a descriptor and everywhere else.
  ///   - form: How it is read, checked and written.
  ///   - uses: Who gives it and who sees it.
  ///   - group: The members of which a descriptor has at most one.
  mutating func field<Form: MemberForm>(
    _ name: StaticString, _ form: Form, _ value: inout Form.Value, _ uses: FieldUses, oneOf group: MemberGroup?
  ) throws(Failure)
}

extension CallFieldVisitor where Self: ~Copyable {
  mutating func field<Form: MemberForm>(
    _ name: StaticString, _ form: Form, _ value: inout Form.Value, _ uses: FieldUses
  ) throws(Failure) {
    try field(name, form, &value, uses, oneOf: nil)
  }
}

/// How one member of a descriptor is read, checked and written.
protocol MemberForm {
  associatedtype Value

  /// Reads the value, which is next. A fault is recorded, and leaves the value as it is.
  func read(
    _ name: StaticString, into value: inout Value, from reader: inout DescriptorReader
  ) throws(JSONError)

  /// Writes the member into an open object: nothing for the default.
  ///
  /// - Parameter redaction: Hides values; nil for a spec from which attempts are made.
  func write(_ name: StaticString, _ value: Value, hiding redaction: Redaction?, to writer: inout JSONWriter)

  /// Writes the member into the view of a call.
  func show(_ name: StaticString, _ value: Value, hiding redaction: Redaction, to writer: inout JSONWriter)

  #if DEBUG
    /// What the contract says of it in a descriptor.
    var schema: MemberSchema { get }
    /// What the contract says of it in a view of the call.
    var shownSchema: MemberSchema { get }
  #endif
}

extension MemberForm {
  func show(_ name: StaticString, _ value: Value, hiding redaction: Redaction, to writer: inout JSONWriter) {
    write(name, value, hiding: redaction, to: &writer)
  }

  #if DEBUG
    var shownSchema: MemberSchema { schema.unbounded }
  #endif
}

/// Who gives a field of a call, and who sees it.
struct FieldUses: OptionSet, Sendable {
  let rawValue: UInt8

  /// A client may give it. Without this, only Redial writes it, for a call that it has accepted.
  static let given = FieldUses(rawValue: 1)
  /// It is stored with the call.
  static let stored = FieldUses(rawValue: 2)
  /// A dry run shows it.
  static let previewed = FieldUses(rawValue: 4)
  /// Every view of the call shows it.
  static let shown = FieldUses(rawValue: 8)

  /// A client gives it, and Redial keeps it.
  static let client: FieldUses = [.given, .stored, .previewed]
}

/// Members of which a descriptor has at most one.
enum MemberGroup {
  /// The body of the request.
  case body
  /// When the call starts.
  case start

  /// Why.
  var reason: String {
    switch self {
    case .body: ": a call has one body"
    case .start: ""
    }
  }
}
