import RedialCore
import RedialJSON
import Testing

@Suite("Hidden members of JSON")
struct JSONRedactionTests {
  private func redacted(_ text: String, _ pointers: String...) -> String? {
    pointers.compactMap { JSONPointer($0) }.redacted(Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test("named members are hidden, and every other byte stays")
  func named() {
    #expect(redacted(#" {"a" : 1 ,"b":[ 2,3 ] } "#, "/a") == #" {"a" : "[redacted]" ,"b":[ 2,3 ] } "#)
    #expect(redacted(#"{"a":{"b":1},"b":2}"#, "/a/b") == #"{"a":{"b":"[redacted]"},"b":2}"#)
    #expect(
      redacted(#"{"a":1,"a":{"x":2},"\u0061":3}"#, "/a")
        == #"{"a":"[redacted]","a":"[redacted]","\u0061":"[redacted]"}"#, "each of the same name")
    #expect(
      redacted(#"{"a/b":1,"m~n":2,"":3}"#, "/a~1b", "/m~0n", "/")
        == #"{"a/b":"[redacted]","m~n":"[redacted]","":"[redacted]"}"#)
    #expect(redacted(#"[[1,2],[3]]"#, "/*/0") == #"[["[redacted]",2],["[redacted]"]]"#)
    #expect(redacted(#"{"*":1,"a":2}"#, "/*") == #"{"*":"[redacted]","a":2}"#, "of an object it is a name")
    #expect(redacted(#"[1,2]"#, "/01", "/-", "/2") == "[1,2]")
    #expect(redacted(#"{"a":1}"#, "") == #""[redacted]""#)
    #expect(redacted(#"{"a":1}"#, "/b", "/a/b") == #"{"a":1}"#)
  }

  @Test(
    "what is not one whole JSON value is not shown",
    arguments: ["", "{", #"{"a":1"#, "a=1", "1 2", "\u{FEFF}{}", "{\"a\":\"\\x\"}", String(repeating: "[", count: 65)])
  func notJSON(text: String) {
    #expect(redacted(text, "/a") == nil)
  }

  @Test("a text that does not name a value is refused", arguments: ["a", "a/b", "/~", "/~2", "/a~"])
  func pointers(text: String) {
    #expect(JSONPointer(text) == nil)
  }

  /// Writes a random value twice: as it is, and as it is to be shown.
  private struct Writer {
    var random: RandomSource
    let hidden: [[String]]
    var plain = ""
    var shown = ""
    /// The paths of all values.
    var paths: [[String]] = []

    mutating func add(_ text: String, isHidden: Bool) {
      plain += text
      if !isHidden { shown += text }
    }

    mutating func write(_ path: [String], isHidden outer: Bool, depth: Int) {
      paths.append(path)
      add(random.chance(0.3) ? random.pick([" ", "\n\t"]) : "", isHidden: outer)
      let starts = !outer && hidden.contains { $0 == path }
      if starts { shown += "\"[redacted]\"" }
      let isHidden = outer || starts
      switch depth < 4 ? random.pick(0...5) : random.pick(0...3) {
      case 0: add(random.pick(["1", "-0.5e3", "true", "null"]), isHidden: isHidden)
      case 1, 2, 3: add(random.pick(["\"secret\"", "\"\\u0041\\\"é\"", "\"\""]), isHidden: isHidden)
      case 4:
        add("{", isHidden: isHidden)
        for number in 0..<random.pick(0...4) {
          let name = random.pick(["a", "b", "a/b", "~", "1", "é"])
          let written = name == "a" && random.chance(0.5) ? "\\u0061" : name
          add("\(number == 0 ? "" : ",")\"\(written)\":", isHidden: isHidden)
          write(path + [name], isHidden: isHidden, depth: depth + 1)
        }
        add("}", isHidden: isHidden)
      default:
        add("[", isHidden: isHidden)
        for number in 0..<random.pick(0...4) {
          add(number == 0 ? "" : ",", isHidden: isHidden)
          write(path + ["\(number)"], isHidden: isHidden, depth: depth + 1)
        }
        add("]", isHidden: isHidden)
      }
      if !isHidden { add(random.chance(0.2) ? " " : "", isHidden: false) }
    }
  }

  @Test("of random texts exactly the named values are hidden", arguments: 0..<300 as Range<UInt64>)
  func random(seed: UInt64) throws {
    var first = Writer(random: RandomSource(seed: seed), hidden: [])
    first.write([], isHidden: false, depth: 0)
    var random = RandomSource(seed: seed + 1000)
    var paths = (0..<random.pick(0...5)).map { _ in random.pick(first.paths) }
    paths.append(["nowhere"])
    // The same draws, and so the same value; what is hidden differs by the space behind it alone.
    var writer = Writer(random: RandomSource(seed: seed), hidden: paths)
    writer.write([], isHidden: false, depth: 0)
    let pointers = try paths.map { path in
      let text = path.map { "/" + $0.replacing("~", with: "~0").replacing("/", with: "~1") }.joined()
      return try #require(JSONPointer(text))
    }
    let found = pointers.redacted(Array(writer.plain.utf8)).map { String(decoding: $0, as: UTF8.self) }
    #expect(found == writer.shown, "\(paths) in \(writer.plain)")
    // A text that was damaged is shown with all of them hidden, or not at all: nothing traps.
    var damaged = Array(writer.plain.utf8)
    for _ in 0..<3 where !damaged.isEmpty { damaged[random.pick(0...damaged.count - 1)] = UInt8(random.pick(0...255)) }
    _ = pointers.redacted(damaged)
    _ = pointers.redacted(Array(damaged.prefix(damaged.count / 2)))
  }
}

extension RandomSource {
  fileprivate mutating func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &self) < share }

  fileprivate mutating func pick<Value>(_ values: [Value]) -> Value {
    values[Int.random(in: values.indices, using: &self)]
  }

  fileprivate mutating func pick(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }
}
