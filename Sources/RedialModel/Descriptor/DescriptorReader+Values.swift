internal import RedialCore
internal import RedialJSON
internal import RedialText

/// Reads values of a known kind and range, and records a fault for each wrong one.
extension DescriptorReader {
  /// The maximum number of listed faults.
  private static let maximumFaults = 50

  /// Reads the whole text.
  ///
  /// - Throws: A problem of status 400 if it is not JSON.
  mutating func readWhole(
    _ body: (inout DescriptorReader) throws(JSONError) -> Void
  ) throws(Problem) {
    do throws(JSONError) {
      try body(&self)
      try json.finish()
    } catch {
      throw Problem.invalidJSON(error)
    }
  }

  /// Throws a problem that lists the faults, if there are any.
  func refuseFaults(_ code: ProblemCode) throws(Problem) {
    if let problem = Problem(code, faults: faults, of: faultCount) { throw problem }
  }

  /// Records a fault. The first 50 are kept; the others are only counted.
  mutating func fault(_ pointer: String, _ detail: String) {
    faultCount += 1
    if faults.count < Self.maximumFaults { faults.append(.init(pointer: pointer, detail: detail)) }
  }

  /// Skips the rest of an array, and returns its number of elements: elements beyond the limit are not kept for
  /// comparison, which would take quadratic time.
  mutating func skipElements() throws(JSONError) -> Int {
    var count = 0
    while try json.nextElement() {
      _ = try json.skipValue()
      count += 1
    }
    return count
  }

  /// The next member of an object, if it is one of the allowed ones; its value is next. Nil at the object's end. An
  /// unknown or repeated member is recorded as a fault and skipped.
  ///
  /// A member that is null counts as left out, unless null is one of its values, or removes it (``nullRemoves``).
  ///
  /// - Parameters:
  ///   - parent: The object's pointer.
  ///   - what: The object, in words.
  mutating func nextMember(
    _ members: inout Members, of what: @autoclosure () -> String, at parent: @autoclosure () -> String
  ) throws(JSONError) -> String? {
    guard let index = try nextIndex(&members, of: what(), at: parent()) else { return nil }
    return members.name(at: index)
  }

  /// The next member of an object whose members are the cases of an enumeration: a switch over them reads each.
  mutating func nextMember<Member: RawRepresentable<String>>(
    _ members: inout Members, as _: Member.Type, of what: @autoclosure () -> String,
    at parent: @autoclosure () -> String
  ) throws(JSONError) -> Member? {
    while let name = try nextMember(&members, of: what(), at: parent()) {
      if let member = Member(rawValue: name) { return member }
    }
    return nil
  }

  /// Like ``nextMember(_:of:at:)``, but returns the member's index among the allowed ones.
  mutating func nextIndex(
    _ members: inout Members, of what: @autoclosure () -> String, at parent: @autoclosure () -> String
  ) throws(JSONError) -> Int? {
    while let name = try json.nextName() {
      let (sighting, index) = try members.see(name, in: json)
      switch sighting {
      case .first:
        if nullRemoves || members.hasNull(at: index) { return index }
        if try !json.null() { return index }
        continue
      case .again: fault("\(parent())/\(try json.text(of: name))", "is given twice")
      case .unknown:
        fault("\(parent())/\(JSONPointer.escaped(try json.text(of: name)))", "is not a member of \(what())")
      }
      _ = try json.skipValue()
    }
    return nil
  }

  /// Whether the next value has this kind; if not, a fault is recorded and the value is skipped.
  mutating func expect(
    _ kind: JSONReader.Kind, _ pointer: @autoclosure () -> String, _ detail: @autoclosure () -> String
  ) throws(JSONError) -> Bool {
    if try json.peek() == kind { return true }
    if nullRemoves, try json.null() { return false }
    fault(pointer(), detail())
    _ = try json.skipValue()
    return false
  }

  // Pointers are built only on demand: most descriptors have no fault.

  mutating func string(_ pointer: @autoclosure () -> String) throws(JSONError) -> String? {
    guard try expect(.string, pointer(), "must be a string") else { return nil }
    return try json.string()
  }

  /// A string in an array, where null removes nothing.
  mutating func element(_ pointer: @autoclosure () -> String) throws(JSONError) -> String? {
    guard try json.null() else { return try string(pointer()) }
    fault(pointer(), "must be a string")
    return nil
  }

  mutating func bool(_ pointer: @autoclosure () -> String) throws(JSONError) -> Bool? {
    guard try expect(.bool, pointer(), "must be true or false") else { return nil }
    return try json.bool()
  }

  mutating func integer(
    _ pointer: @autoclosure () -> String, in range: ClosedRange<Int>
  ) throws(JSONError) -> Int? {
    guard let value = try number(pointer()) else { return nil }
    guard let whole = Int(exactly: value), range.contains(whole) else {
      fault(pointer(), "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
      return nil
    }
    return whole
  }

  mutating func number(_ pointer: @autoclosure () -> String) throws(JSONError) -> Double? {
    guard try expect(.number, pointer(), "must be a number") else { return nil }
    return try json.double()
  }

  /// A number within a range of whole limits.
  mutating func number(_ pointer: String, in range: ClosedRange<Int>) throws(JSONError) -> Double? {
    guard let value = try number(pointer) else { return nil }
    if value >= Double(range.lowerBound), value <= Double(range.upperBound) { return value }
    fault(pointer, "must be from \(range.lowerBound) to \(range.upperBound)")
    return nil
  }

  /// A limit within a range; 0 for null, which is no limit, also in a patch.
  mutating func limit(_ pointer: String, in range: ClosedRange<Double>) throws(JSONError) -> Double? {
    if try json.null() { return 0 }
    guard let value = try number(pointer) else { return nil }
    if range.contains(value) { return value }
    fault(pointer, "must be from \(range.lowerBound) to \(range.upperBound), or null for no limit")
    return nil
  }

  mutating func duration(
    _ pointer: @autoclosure () -> String, in range: ClosedRange<Duration>
  ) throws(JSONError) -> Duration? {
    guard let text = try string(pointer()) else { return nil }
    guard let duration = DurationText.parse(text) else {
      fault(pointer(), "must be a duration with a unit, such as \"500ms\", \"1.5s\", \"15m\", \"24h\" or \"PT5M\"")
      return nil
    }
    guard range.contains(duration) else {
      let (low, high) = (DurationText.format(range.lowerBound), DurationText.format(range.upperBound))
      fault(pointer(), "must be from \(low) to \(high)")
      return nil
    }
    return duration
  }

  /// Reads a time, or a duration from now.
  mutating func timeOrDuration(_ pointer: String, from now: Timestamp) throws(JSONError) -> Timestamp? {
    guard let text = try string(pointer) else { return nil }
    if let time = TimestampText.parse(text) ?? DurationText.parse(text).map({ now + $0 }) { return time }
    fault(pointer, "must be a time such as 2026-12-01T14:00:00Z, or a duration from now such as 8h")
    return nil
  }

  /// Reads a URL that the egress policy lets this service call.
  mutating func callableURL(_ pointer: String) throws(JSONError) -> String? {
    guard let text = try string(pointer) else { return nil }
    do {
      let origin = try TargetURL(text).origin
      if !limits.isAccepted, let detail = TargetURL.nameFault(inOrigin: origin) { fault(pointer, detail) }
      if let refusal = limits.egress?.refusal(ofOrigin: origin) {
        fault(pointer, "cannot be called: the egress policy refuses \(refusal.clause)")
      }
    } catch {
      fault(pointer, error.detail)
    }
    return text
  }

  /// Reads an array of distinct keys of targets.
  mutating func targetNames(_ pointer: String) throws(JSONError) -> [String] {
    try names(pointer, most: Self.mostTargetNames) {
      (1...Self.longestTargetName).contains($0.unicodeScalars.count)
        ? nil : "must have 1 to \(Self.longestTargetName) characters"
    }
  }

  /// The maximum number of elements of ``targetNames(_:)``.
  static let mostTargetNames = 100
  /// The longest of them, in characters.
  static let longestTargetName = 512

  /// Reads an array of distinct names.
  ///
  /// - Parameters:
  ///   - most: The maximum number of elements.
  ///   - fault: What is wrong with a name; nil for nothing.
  mutating func names(
    _ pointer: String, most: Int, fault: (String) -> String?
  ) throws(JSONError) -> [String] {
    var names: [String] = []
    guard try expect(.array, pointer, "must be an array of strings") else { return names }
    try json.beginArray()
    var position = 0
    while position < most, try json.nextElement() {
      defer { position += 1 }
      guard let name = try string("\(pointer)/\(position)") else { continue }
      if let detail = fault(name) { self.fault("\(pointer)/\(position)", detail) }
      if !names.contains(name) { names.append(name) }
    }
    if position == most, try skipElements() > 0 { self.fault(pointer, "has more than \(most) elements") }
    return names
  }
}
