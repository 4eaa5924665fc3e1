public import RedialJSON

extension TargetOverrides {
  /// Reads the overrides for a target: one object whose members are all optional.
  ///
  /// - Throws: A problem of status 400 for a text that is not JSON, 422 for everything else, which names each member
  ///   at fault.
  public static func read(_ bytes: UnsafeBufferPointer<UInt8>) throws(Problem) -> TargetOverrides {
    var overrides = TargetOverrides()
    try overrides.read(bytes, nullRemoves: false)
    return overrides
  }

  /// Reads what a store has: also what builds from before the first release wrote in other words.
  ///
  /// - Throws: Like ``read(_:)``.
  public static func read(stored bytes: UnsafeBufferPointer<UInt8>) throws(Problem) -> TargetOverrides {
    var overrides = TargetOverrides()
    try overrides.read(bytes, nullRemoves: false, limits: .unlimited)
    return overrides
  }

  /// Reads an object over these: a member that is left out stays.
  ///
  /// - Parameter nullRemoves: Whether null removes a member, and instead of an object all of them. Then what is read is a
  ///   JSON Merge Patch, and the result may be one that ``read(_:)`` refuses.
  mutating func read(
    _ bytes: UnsafeBufferPointer<UInt8>, nullRemoves: Bool, limits: CallDescriptor.Limits = CallDescriptor.Limits()
  ) throws(Problem) {
    var reader = DescriptorReader(json: JSONReader(bytes), limits: limits)
    reader.nullRemoves = nullRemoves
    try reader.readWhole { reader throws(JSONError) in
      if try reader.expect(.object, "", "must be a JSON object such as {\"maxInFlight\": 10}") {
        try TargetSetting.read(Self.members, of: "a target's settings", into: &self, at: "", from: &reader)
      } else {
        self = TargetOverrides()
      }
    }
    try reader.refuseFaults(.invalidTargetSettings)
  }

  /// The overrides as one JSON object, which ``read(_:)`` reads.
  public var json: [UInt8] {
    var writer = JSONWriter()
    write(hidingSecrets: false, to: &writer)
    return writer.bytes
  }

  /// Writes the overrides as one object.
  ///
  /// - Parameter hidingSecrets: Whether people read it.
  public func write(hidingSecrets: Bool, to writer: inout JSONWriter) {
    TargetSetting.write(Self.members, of: self, hidingSecrets: hidingSecrets, to: &writer)
  }
}
