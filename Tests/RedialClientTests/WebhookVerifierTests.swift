import Foundation
@testable import RedialClient
import Testing

@Suite("Webhooks that are verified")
struct WebhookVerifierTests {
  private static func hex(_ bytes: [UInt8]) -> String {
    bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
  }

  @Test(
    "SHA-256 gives the digests of FIPS 180-4",
    arguments: [
      ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
      ),
      (
        String(repeating: "a", count: 1_000_000),
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
      ),
    ])
  func digests(message: String, digest: String) {
    #expect(Self.hex(SHA256.digest(Array(message.utf8))) == digest)
  }

  @Test("of every length around a block, the padding is right: the digest of digests")
  func padding() {
    // What Python's hashlib gives: sha256(b"".join(sha256(b"x" * n).digest() for n in range(200))).
    let all = (0..<200).flatMap { SHA256.digest([UInt8](repeating: 0x78, count: $0)) }
    #expect(Self.hex(SHA256.digest(all)) == "f5e61141898898cdabae3590cb32e1901b40bdc59952302926213a44c105c129")
  }

  @Test("HMAC gives the codes of RFC 4231")
  func codes() {
    let short = SHA256.authenticationCode(of: Array("what do ya want for nothing?".utf8), key: Array("Jefe".utf8))
    #expect(Self.hex(short) == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    let long = SHA256.authenticationCode(
      of: Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
      key: [UInt8](repeating: 0xaa, count: 131))
    #expect(Self.hex(long) == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
  }

  private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
  private static let body = Data(
    #"{"type":"target.opened","timestamp":"2026-12-01T09:00:00.000Z","data":{"key":"t","breaker":{"state":"open","openUntil":null,"trips":1}}}"#
      .utf8)

  private static func signed(_ body: Data, id: String = "msg_1", at time: Int) -> [String: String] {
    let key = Array(Data(base64Encoded: String(secret.dropFirst(6))) ?? Data())
    let code = SHA256.authenticationCode(of: Array("\(id).\(time).".utf8) + Array(body), key: key)
    return [
      "Webhook-Id": id, "webhook-timestamp": "\(time)", "WEBHOOK-SIGNATURE": "v1,\(Data(code).base64EncodedString())",
    ]
  }

  private static func verifier(at seconds: Int64) throws -> WebhookVerifier {
    var verifier = try WebhookVerifier(secret: secret)
    verifier.clock = TestClock(now: .epoch + .seconds(seconds))
    return verifier
  }

  @Test("the example of Standard Webhooks has the signature that the standard gives")
  func standard() throws {
    let key = Array(Data(base64Encoded: String(Self.secret.dropFirst(6))) ?? Data())
    let text = #"msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.{"test": 2432232314}"#
    let code = SHA256.authenticationCode(of: Array(text.utf8), key: key)
    #expect(Data(code).base64EncodedString() == "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
  }

  @Test("one that is signed and fresh is read, with any of several signatures")
  func genuine() throws {
    let verifier = try Self.verifier(at: 1_000_000)
    var headers = Self.signed(Self.body, at: 1_000_100)
    let event = try verifier.verify(Self.body, headers: headers)
    #expect(event.id == "msg_1" && event.type == .targetOpened)
    #expect(event.subject == .target(key: "t", state: .open, openUntil: nil))
    headers["WEBHOOK-SIGNATURE"] = "v1,AAAA v2,x \(headers["WEBHOOK-SIGNATURE"] ?? "")"
    #expect(try verifier.verify(Self.body, headers: headers) == event)
  }

  @Test("while a secret is rotated, both are good, and no other")
  func rotated() throws {
    let other = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    func verifier(_ secrets: [String]) throws -> WebhookVerifier {
      var verifier = try WebhookVerifier(secrets: secrets)
      verifier.clock = TestClock(now: .epoch + .seconds(1_000_000))
      return verifier
    }
    let headers = Self.signed(Self.body, at: 1_000_000)
    for secrets in [[Self.secret, other], [other, Self.secret]] {
      #expect(try verifier(secrets).verify(Self.body, headers: headers).id == "msg_1")
    }
    #expect(throws: WebhookRejected.self) { try verifier([other, other]).verify(Self.body, headers: headers) }
    for unusable in [[], [Self.secret, "whsec_not base64"], [Self.secret, ""]] {
      #expect(throws: WebhookRejected.self) { try verifier(unusable) }
    }
  }

  @Test("one that was changed, or is old, or lacks a field, is refused")
  func refused() throws {
    let verifier = try Self.verifier(at: 1_000_000)
    func reason(_ body: Data, _ headers: [String: String]) -> String {
      do {
        _ = try verifier.verify(body, headers: headers)
        return "accepted"
      } catch {
        return String("\(error)".prefix(20))
      }
    }
    let good = Self.signed(Self.body, at: 1_000_000)
    #expect(reason(Self.body, good) == "accepted")
    #expect(reason(Self.body + Data(" ".utf8), good).hasPrefix("no signature"))
    #expect(reason(Self.body, good.merging(["Webhook-Id": "msg_2"]) { $1 }).hasPrefix("no signature"))
    #expect(reason(Self.body, good.merging(["webhook-timestamp": "1000001"]) { $1 }).hasPrefix("no signature"))
    #expect(reason(Self.body, Self.signed(Self.body, at: 999_699)).hasPrefix("its time is 301"))
    #expect(reason(Self.body, Self.signed(Self.body, at: 1_000_301)).hasPrefix("its time is -301"))
    #expect(reason(Self.body, good.filter { $0.key != "Webhook-Id" }).hasPrefix("webhook-id"))
    #expect(reason(Self.body, good.merging(["webhook-timestamp": "1e6"]) { $1 }).hasPrefix("webhook-id"))
    #expect(reason(Data("{}".utf8), Self.signed(Data("{}".utf8), at: 1_000_000)).hasPrefix("it is genuine"))
    #expect(throws: WebhookRejected.self) { try WebhookVerifier(secret: "whsec_not base64") }
  }
}
