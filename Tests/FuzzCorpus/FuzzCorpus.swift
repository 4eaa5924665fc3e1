internal import Foundation

/// The inputs in `Tests/Fuzz/corpus`, and changes of them, for a unit test of what a fuzzer checks.
///
/// The fuzzers of `Scripts/fuzz` are guided by coverage and run for minutes. This runs what they have kept, each time.
package enum FuzzCorpus {
  /// An input, and where it comes from.
  package struct Input: Sendable {
    /// The file, and the number of the change.
    package let name: String
    package let bytes: [UInt8]
  }

  /// Each file of a corpus, and for each so many changes of it, always the same: bytes flipped, removed and repeated.
  ///
  /// - Throws: An error of Foundation if there is no such corpus.
  package static func inputs(_ corpus: String, changes: UInt64) throws -> [Input] {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Fuzz/corpus/\(corpus)")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    return try names.flatMap { name -> [Input] in
      let bytes = [UInt8](try Data(contentsOf: folder.appendingPathComponent(name)))
      return [Input(name: name, bytes: bytes)]
        + (0..<changes).map { Input(name: "\(name), change \($0)", bytes: changed(bytes, seed: $0)) }
    }
  }

  private static func changed(_ bytes: [UInt8], seed: UInt64) -> [UInt8] {
    var state = seed &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(bytes.count)
    /// SplitMix64 (Steele, Lea, Flood, 2014).
    func next(below bound: Int) -> Int {
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return Int((mixed ^ (mixed >> 31)) % UInt64(bound))
    }
    var bytes = bytes
    for _ in 0...next(below: 4) where !bytes.isEmpty {
      let place = next(below: bytes.count)
      switch next(below: 4) {
      case 0: bytes[place] ^= UInt8(1 << next(below: 8))
      case 1: bytes[place] = [0, 9, 10, 13, 32, 34, 58, 92, 127, 255][next(below: 10)]
      case 2: bytes.removeSubrange(place..<min(bytes.count, place + 1 + next(below: 8)))
      default: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 1 + next(below: 8))], at: place)
      }
    }
    return bytes
  }
}
