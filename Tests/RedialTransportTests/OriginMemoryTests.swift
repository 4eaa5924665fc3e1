import RedialModel
import Testing

@testable import RedialTransport

@Suite("What is learned of origins")
struct OriginMemoryTests {
  private let now = ContinuousClock.now
  private let url = "https://a.test/x?y"

  private func addresses(_ texts: String...) -> [IPAddress] { texts.compactMap { IPAddress(canonical: $0) } }

  @Test("silent addresses come last, the one that was silent last behind the others, for a while")
  func order() {
    let memory = OriginMemory()
    let found = ["10.0.0.1", "10.0.0.2", "fd00::1", "10.0.0.3"]
    #expect(memory.order(found, of: url, at: now) == found && !memory.takeStale(url))
    memory.noteSilent(addresses("10.0.0.1", "fd00::1"), of: url, at: now)
    #expect(memory.takeStale("https://a.test") && !memory.takeStale(url))
    #expect(memory.order(found, of: url, at: now) == ["10.0.0.2", "10.0.0.3", "10.0.0.1", "fd00::1"])
    memory.noteSilent(addresses("10.0.0.2"), of: url, at: now + .seconds(1))
    memory.noteSilent(addresses("10.0.0.1"), of: url, at: now + .seconds(2))
    #expect(memory.order(found, of: url, at: now + .seconds(3)) == ["10.0.0.3", "fd00::1", "10.0.0.2", "10.0.0.1"])
    #expect(memory.order(found, of: url, at: now + OriginMemory.time + .seconds(3)) == found)
    for other in ["https://a.test:8443/", "http://a.test/", "https://b.test/"] {
      #expect(memory.order(found, of: other, at: now) == found)
    }
    memory.noteSilent((1...40).map { IPAddress(v4: UInt32($0)) } + addresses("10.0.0.2"), of: url, at: now)
    #expect(memory.order(found, of: url, at: now).last == "10.0.0.2")
  }

  @Test("an origin that needs HTTP/1.1 gets it for a while, on connections of its own")
  func plain() {
    let memory = OriginMemory()
    #expect(memory.advice(on: url, in: 7, at: now).group == 7)
    memory.requirePlain(url, in: 7, at: now)
    let advice = memory.advice(on: "https://a.test#z", in: 7, at: now)
    #expect(advice.isPlain && advice.group != 7)
    // What one has learned says nothing to others.
    #expect(memory.advice(on: url, in: 8, at: now).group == 8)
    let later = memory.advice(on: url, in: 7, at: now + OriginMemory.time)
    #expect(!later.isPlain && later.group == 7)
    #expect(!memory.advice(on: "https://a.test.example/", in: 7, at: now).isPlain)
    memory.refusePlain(url, in: 7)
    #expect(!memory.advice(on: url, in: 7, at: now).isPlain)
  }

  @Test("connections are left for others once, however many requests find that out")
  func renewal() {
    let memory = OriginMemory()
    memory.renew(url, in: 7, from: 7)
    let second = memory.advice(on: url, in: 7).group
    #expect(second != 7)
    for _ in 0..<3 { memory.renew(url, in: 7, from: 7) }
    #expect(memory.advice(on: url, in: 7).group == second)
    memory.renew(url, in: 7, from: second)
    #expect(![7, second].contains(memory.advice(on: url, in: 7).group))
  }

  @Test("no more origins are remembered than the limit")
  func bound() {
    let memory = OriginMemory()
    memory.requirePlain(url, in: 0, at: now)
    for number in 1..<OriginMemory.most { memory.requirePlain("https://\(number).test/", in: 0, at: now) }
    #expect(memory.advice(on: url, in: 0, at: now).isPlain)
    memory.requirePlain("https://b.test/", in: 0, at: now)
    #expect(!memory.advice(on: url, in: 0, at: now).isPlain)
    #expect(memory.advice(on: "https://b.test/", in: 0, at: now).isPlain)
  }

  @Test("only those share a connection that prove their identity in the same way")
  func crowds() {
    let memory = OriginMemory()
    let ways = [
      nil, TargetTLS(certificate: "/a"), TargetTLS(certificate: "/b"), TargetTLS(certificate: "/a", pins: ["x"]),
    ]
    #expect(Set(ways.map { memory.crowd(on: url, in: 1, with: $0) }).count == ways.count)
    #expect(memory.crowd(on: url, in: 1, with: ways[1]) == memory.crowd(on: "https://a.test/", in: 1, with: ways[1]))
  }
}
