import RedialCore
import Testing

@testable import RedialModel

/// Reading in place, by the bytes of names and values, gives the same descriptor as reading text.
@Suite("Reading descriptors in place")
struct DescriptorReadingTests {
  /// Descriptors with and without faults, of all members.
  private static let samples = [
    #"{"url":"http://127.0.0.1:8080/hook","method":"POST","headers":{"content-type":"application/json","x-id":"4f1d9a4e"},"#
      + #""body":"0123456789","labels":{"team":"payments"},"policy":{"maxAttempts":8,"deadline":"15m"}}"#,
    #"{"url":"https://EXAMPLE.com:443/a?b=c#d","delay":"1h30m","target":"mine","idempotent":true,"labels":{"a":"1","b/~":""},"#
      + #""callback":{"url":"http://hooks.example.org/x","events":["call.succeeded"]},"redirects":{"max":5},"#
      + #""capture":{"maxBytes":1000,"redactHeaders":["X-Secret"]},"orderingKey":"k","priority":9}"#,
    #"{"url":"http://[::1]:8080/","method":"PUT","headers":{"A":["1","2"],"Idempotency-Key":"x"},"bodyBase64":"aGVsbG8=","#
      + #""startAt":"2026-12-01T09:00:00Z","policy":{"retryOn":{"network":"always","statuses":["500-599"]}}}"#,
    #"{"url":"http://a.b","url":"http://c.d","unknown":[{}],"un~k/n":1,"":2,"priority":5,"priority":6}"#,
    #"{"url":"http://u@host/","headers":{"te":"x","Content-Length":"5","bad name":"x","":"y","x":" lead","y":"tail ","#
      + #""d":"1","d":"2","del":"\#u{7F}"},"method":"CONNECT","labels":{"":"x","l":"1","l":"2"}}"#,
    #"{"url":"http://0x7f.1.9/","target":"","orderingKey":"","body":1,"bodyBase64":"x","delay":"x","method":"a b"}"#,
    #"{"headers":{"content-type":"application/json","Content-Type":"application/JSON"},"body":"x","method":"HEAD"}"#,
  ]

  /// The content of a descriptor, in words.
  private static func outcome(_ bytes: [UInt8]) -> (status: Int, words: String, descriptor: CallDescriptor?) {
    bytes.withUnsafeBufferPointer { buffer in
      do throws(Problem) {
        let descriptor = try CallDescriptor.read(buffer)
        let spec = String(decoding: descriptor.spec.canonicalJSON, as: UTF8.self)
        return (200, "\(spec) \(descriptor.body) \(descriptor.start)", descriptor)
      } catch {
        return (error.status, "\(error.code) \(error.detail) \(error.errors)", nil)
      }
    }
  }

  /// The same text with every character of its strings escaped.
  private static func escaped(_ text: String) -> String {
    var result = ""
    var isInside = false
    for scalar in text.unicodeScalars {
      if scalar == "\"" {
        isInside.toggle()
        result.unicodeScalars.append(scalar)
      } else if isInside {
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  @Test(
    "a descriptor has the same meaning and faults with every character of its strings escaped", arguments: samples)
  func escapes(text: String) {
    let (plain, escaped) = (Self.outcome(Array(text.utf8)), Self.outcome(Array(Self.escaped(text).utf8)))
    #expect(plain.status != 400)
    #expect(plain.status == escaped.status)
    #expect(plain.words == escaped.words)
  }

  @Test("descriptors with random damage are JSON if Foundation reads them, with the same meaning")
  func damage() {
    var (accepted, faulty, refused) = (0, 0, 0)
    for seed in UInt64(0)..<6000 {
      var random = RandomSource(seed: seed)
      var bytes = Array(Self.samples[Int(random.next() % UInt64(Self.samples.count))].utf8)
      for _ in 0..<(1 + random.next() % 3) {
        let place = Int(random.next() % UInt64(bytes.count))
        switch random.next() % 4 {
        case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
        case 1: bytes.remove(at: place)
        case 2: bytes.insert(Array("{}[]\",:\\0e- ".utf8)[Int(random.next() % 12)], at: place)
        default: bytes.insert(contentsOf: Array(#"\u00e9"#.utf8), at: place)
        }
      }
      let text = String(decoding: bytes, as: UTF8.self)
      let found = Self.outcome(bytes)
      let value = Value.foundation(bytes)
      if found.status == 400 {
        refused += 1
        #expect((try? Value.read(bytes)) == nil, "seed \(seed): \(text)")
        continue
      }
      guard case .object(let members) = value else {
        #expect(value != nil, "seed \(seed): \(text)")
        continue
      }
      guard let descriptor = found.descriptor else {
        faulty += 1
        continue
      }
      accepted += 1
      #expect(members["url"] == .string(descriptor.spec.url), "seed \(seed): \(text)")
      if let method = members["method"] { #expect(method == .string(descriptor.spec.method), "seed \(seed): \(text)") }
      if case .string(let body) = members["body"] {
        #expect(Array(body.utf8) == descriptor.body, "seed \(seed): \(text)")
      }
      let labels = descriptor.spec.labels.map { ($0.name, Value.string($0.value)) }
      if case .object(let wanted) = members["labels"] {
        #expect(Dictionary(uniqueKeysWithValues: labels) == wanted, "seed \(seed): \(text)")
      }
    }
    #expect(accepted > 50 && faulty > 50 && refused > 50)
  }
}
