import Testing

/// The files of a store, made anew from the record of `Tests/Acceptance/shim/faults.c`.
struct RecordedDisk {
  struct Step {
    /// w: a write, t: a cut to `offset`, s: a sync, u: the file is removed.
    var kind: UInt8
    /// What the file's name ends with.
    var suffix: String
    var offset: Int
    var bytes: [UInt8]

    var isMark: Bool { suffix == "-acknowledged" }

    /// The same, if only a part of the bytes was written.
    func prefix(_ count: Int) -> Step {
      Step(kind: kind, suffix: suffix, offset: offset, bytes: Array(bytes.prefix(count)))
    }
  }

  /// As other processes see them.
  private(set) var files: [String: [UInt8]] = [:]
  /// As a disk has them that forgets all that was not synced.
  private(set) var durable: [String: [UInt8]] = [:]

  mutating func take(_ step: Step) {
    switch step.kind {
    case UInt8(ascii: "w"):
      let missing = step.offset + step.bytes.count - files[step.suffix, default: []].count
      if missing > 0 { files[step.suffix, default: []] += [UInt8](repeating: 0, count: missing) }
      files[step.suffix]?.replaceSubrange(step.offset..<step.offset + step.bytes.count, with: step.bytes)
    case UInt8(ascii: "t"):
      let count = files[step.suffix, default: []].count
      files[step.suffix, default: []].removeLast(max(0, count - step.offset))
      files[step.suffix, default: []] += [UInt8](repeating: 0, count: max(0, step.offset - count))
    case UInt8(ascii: "s"): durable[step.suffix] = files[step.suffix]
    default: (files[step.suffix], durable[step.suffix]) = (nil, nil)
    }
  }

  /// The same after one more step.
  func after(_ step: Step) -> RecordedDisk {
    var disk = self
    disk.take(step)
    return disk
  }

  /// The steps of a record: entries of 24 bytes (see the shim), each with the bytes that were written.
  static func steps(in path: String) throws -> [Step] {
    let record = try #require(contents(of: path))
    var steps: [Step] = []
    var place = 0
    while place < record.count {
      let (offset, length) = record.withUnsafeBytes { bytes in
        (
          Int(bytes.loadUnaligned(fromByteOffset: place + 8, as: Int64.self)),
          Int(bytes.loadUnaligned(fromByteOffset: place + 16, as: Int32.self))
        )
      }
      let suffixes: [UInt8: String] = [
        UInt8(ascii: "m"): "", UInt8(ascii: "w"): "-wal", UInt8(ascii: "j"): "-journal",
        UInt8(ascii: "a"): "-acknowledged",
      ]
      let suffix = try #require(suffixes[record[place + 21]])
      let end = place + 24 + length
      steps.append(
        Step(kind: record[place + 20], suffix: suffix, offset: offset, bytes: Array(record[(place + 24)..<end])))
      place = end
    }
    return steps
  }
}
