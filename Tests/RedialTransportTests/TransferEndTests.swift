import CCurl
import Glibc
import RedialCore
import RedialModel
import Testing

@testable import RedialTransport

@Suite("What the end of a transfer means")
struct TransferEndTests {
  struct Case: CustomTestStringConvertible, Sendable {
    var code: UInt32
    var requestSize = 0
    var systemError: Int32 = 0
    var outcome: OutcomeClass
    var word: String?

    var testDescription: String { "\(code) with \(requestSize) bytes sent" }
  }

  private static func codes(
    _ codes: [CURLcode], _ size: Int, _ outcome: OutcomeClass, _ word: String? = nil
  ) -> [Case] {
    codes.map { Case(code: $0.rawValue, requestSize: size, outcome: outcome, word: word) }
  }

  static let cases =
    codes([CURLE_OK], 80, .answered)
    + codes([CURLE_COULDNT_RESOLVE_HOST], 0, .notSent, "unknownHost")
    + codes([CURLE_COULDNT_CONNECT], 0, .notSent, "connectFailed")
    + codes([CURLE_SSL_CONNECT_ERROR], 0, .notSent, "tlsFailed")
    + codes([CURLE_OPERATION_TIMEDOUT], 0, .notSent, "connectTimeout")
    + codes([CURLE_OPERATION_TIMEDOUT], 80, .maybeSent, "timeout")
    + codes([CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING], 0, .notSent, "connectionClosed")
    + codes([CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING], 80, .maybeSent, "connectionClosed")
    + codes([CURLE_PARTIAL_FILE], 80, .maybeSent, "responseIncomplete")
    + codes([CURLE_WEIRD_SERVER_REPLY], 80, .maybeSent, "responseInvalid")
    + codes([CURLE_UNSUPPORTED_PROTOCOL], 80, .maybeSent, "responseInvalid")
    + codes([CURLE_UNSUPPORTED_PROTOCOL, CURLE_URL_MALFORMAT], 0, .unusable, "urlUnusable")
    + codes([CURLE_PEER_FAILED_VERIFICATION], 0, .unusable, "certificateInvalid")
    + codes([CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS], 0, .unusable, "certificateInvalid")
    + codes([CURLE_SSL_PINNEDPUBKEYNOTMATCH], 0, .unusable, "certificateNotPinned")
    + codes([CURLE_SSL_CERTPROBLEM, CURLE_SSL_CLIENTCERT], 0, .unusable, "clientCertificateUnusable")
    + codes([CURLE_SSL_CACERT_BADFILE], 0, .unusable, "issuersUnreadable")
    + codes([CURLE_SSL_CIPHER], 0, .unusable, "transferFailed")
    + codes([CURLE_BAD_CONTENT_ENCODING], 80, .unusable, "responseCorrupt")
    + codes([CURLE_OUT_OF_MEMORY], 0, .localFault, "localResources")
    + codes([CURLE_ABORTED_BY_CALLBACK, CURLE_WRITE_ERROR], 80, .localFault, "transferFailed")
    // A code of no version yet.
    + codes([CURLcode(rawValue: 4711)], 0, .unusable) + codes([CURLcode(rawValue: 4711)], 80, .maybeSent)
    + [
      Case(
        code: CURLE_COULDNT_CONNECT.rawValue, systemError: ECONNREFUSED, outcome: .notSent, word: "connectionRefused"),
      Case(code: CURLE_COULDNT_CONNECT.rawValue, systemError: EMFILE, outcome: .localFault, word: "localResources"),
      Case(
        code: CURLE_COULDNT_CONNECT.rawValue, systemError: EADDRNOTAVAIL, outcome: .localFault, word: "localResources"),
    ]

  @Test("a failure of the proxy or the resolver is not the target's failure")
  func ownFaults() {
    func end(_ code: CURLcode, size: Int = 0, tunnel: Int = 0, proxied: Bool = true) -> TransferEnd {
      var end = TransferEnd(code: code, requestSize: size)
      (end.isProxied, end.tunnelStatus, end.isResolverDown) = (proxied, tunnel, !proxied)
      return end
    }
    for (found, outcome, word) in [
      (end(CURLE_COULDNT_RESOLVE_PROXY), OutcomeClass.localFault, "proxyUnreachable"),
      (end(CURLE_COULDNT_CONNECT), .localFault, "proxyUnreachable"),
      (end(CURLE_RECV_ERROR, tunnel: 502), .notSent, "proxyRefused"),
      (end(CURLE_RECV_ERROR, size: 80, tunnel: 200), .maybeSent, "connectionClosed"),
      (end(CURLE_COULDNT_RESOLVE_HOST, proxied: false), .localFault, "resolverUnavailable"),
      (end(CURLE_OPERATION_TIMEDOUT, proxied: false), .localFault, "resolverUnavailable"),
    ] {
      #expect(found.outcome == outcome && found.failure?.code == word, "\(found)")
    }
  }

  @Test("each code has its class and its word", arguments: cases)
  func classes(_ example: Case) {
    let end = TransferEnd(
      code: CURLcode(rawValue: example.code), requestSize: example.requestSize, systemError: example.systemError)
    #expect(end.outcome == example.outcome)
    if let word = example.word { #expect(end.failure?.code == word) }
    #expect((end.failure == nil) == (end.outcome == .answered))
  }

  @Test("a prevented repetition may have been sent")
  func repetition() {
    let end = TransferEnd(code: CURLE_ABORTED_BY_CALLBACK, requestSize: 80, wasRepeated: true)
    #expect(end.outcome == .maybeSent)
    #expect(end.failure?.code == "connectionClosed")
  }

  @Test("what the target has not processed was not sent, unless a redirect was followed before")
  func refusal() {
    let end = TransferEnd(code: CURLE_HTTP2, requestSize: 80, isRefused: true)
    #expect(end.outcome == .notSent && end.failure?.code == "requestRefused")
    #expect(
      TransferEnd(code: CURLE_HTTP2, requestSize: 80, isRefused: true, hasBeenAnswered: true).outcome == .maybeSent)
  }

  @Test("a response to something else is none")
  func foreign() {
    let end = TransferEnd(code: CURLE_WRITE_ERROR, requestSize: 80, isForeign: true)
    #expect(end.outcome == .maybeSent && end.failure?.code == "responseInvalid")
  }

  @Test("a response that was cut off at its limit counts")
  func enough() {
    #expect(TransferEnd(code: CURLE_WRITE_ERROR, requestSize: 80, wasEnough: true).outcome == .answered)
  }
}
