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
    codes([CURLE_OK], 80, .maybeSent, "responseIncomplete")
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
    + codes([CURLE_SSL_CERTPROBLEM, CURLE_BAD_FUNCTION_ARGUMENT], 0, .localFault, "clientCertificateUnusable")
    + codes([CURLE_SSL_CLIENTCERT], 0, .notSent, "clientCertificateUnusable")
    + codes([CURLE_SSL_CACERT_BADFILE], 0, .localFault, "issuersUnreadable")
    + codes([CURLE_SSL_CIPHER], 0, .unusable, "transferFailed")
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
    func end(
      _ code: CURLcode, size: Int = 0, tunnel: Int = 0, proxied: Bool = true, connected: Bool = true
    ) -> TransferEnd {
      var end = TransferEnd(code: code, requestSize: size)
      end.isConnected = connected
      (end.isProxied, end.tunnelStatus, end.down) = (proxied, tunnel, proxied ? nil : .resolver)
      return end
    }
    for (found, outcome, word) in [
      (end(CURLE_COULDNT_RESOLVE_PROXY), OutcomeClass.localFault, "proxyUnreachable"),
      (end(CURLE_COULDNT_CONNECT), .localFault, "proxyUnreachable"),
      (end(CURLE_RECV_ERROR, tunnel: 502), .notSent, "proxyRefused"),
      (end(CURLE_RECV_ERROR, tunnel: 407), .localFault, "proxyRefused"),
      (end(CURLE_OPERATION_TIMEDOUT, connected: false), .localFault, "proxyUnreachable"),
      (end(CURLE_OPERATION_TIMEDOUT), .notSent, "connectTimeout"),
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
    #expect(end.failure != nil && end.outcome != .answered)
  }

  /// Codes that end a response behind its status line, and what is said then.
  static let ends: [(code: CURLcode, word: String, isMalformed: Bool)] = [
    (CURLE_PARTIAL_FILE, "responseIncomplete", false), (CURLE_RECV_ERROR, "responseIncomplete", false),
    (CURLE_SEND_ERROR, "responseIncomplete", false), (CURLE_GOT_NOTHING, "responseIncomplete", false),
    (CURLE_HTTP2_STREAM, "responseIncomplete", false), (CURLE_OK, "responseIncomplete", false),
    (CURLE_OPERATION_TIMEDOUT, "timeout", false), (CURLE_WEIRD_SERVER_REPLY, "responseCorrupt", true),
    (CURLE_BAD_FUNCTION_ARGUMENT, "responseCorrupt", true), (CURLE_BAD_CONTENT_ENCODING, "responseCorrupt", true),
    (CURLE_WRITE_ERROR, "responseCorrupt", true), (CURLE_OUT_OF_MEMORY, "responseHeaderTooLarge", true),
    (CURLcode(rawValue: 100), "responseHeaderTooLarge", true),
  ]

  @Test("a status decides, unless it is of a success that was cut")
  func statuses() {
    for (code, word, isMalformed) in Self.ends {
      for status in [200, 204, 301, 404, 503, 101] {
        let end = TransferEnd(
          code: code, requestSize: 80, response: ResponseProgress(status: status, hasBegun: true))
        let decides = isMalformed || !(200...299).contains(status)
        #expect(end.outcome == (decides ? .answered : .maybeSent), "\(code) \(status)")
        #expect(end.failure?.code == word, "\(code) \(status)")
      }
      let whole = ResponseProgress(status: 200, hasBegun: true, isWhole: true)
      let end = TransferEnd(code: code, requestSize: 80, response: whole)
      #expect(end.outcome == .answered && end.failure == nil, "\(code)")
    }
    var chunk = TransferEnd(
      code: CURLE_RECV_ERROR, requestSize: 80, response: ResponseProgress(status: 200, hasBegun: true))
    chunk.detail = "Illegal or missing hexadecimal sequence in chunked-encoding"
    #expect(chunk.outcome == .answered && chunk.failure?.code == "responseCorrupt")
  }

  @Test("what this side finds wrong has its own word")
  func faults() {
    func end(_ fault: ResponseProgress.Fault, status: Int? = 200, isWhole: Bool = false) -> TransferEnd {
      TransferEnd(
        code: isWhole ? CURLE_OK : CURLE_WRITE_ERROR, requestSize: 80,
        response: ResponseProgress(status: status, hasBegun: true, isWhole: isWhole, fault: fault))
    }
    #expect(
      end(.notHTTP, status: nil).outcome == .maybeSent && end(.notHTTP, status: nil).failure?.code == "responseInvalid")
    #expect(end(.endlessHead).outcome == .answered && end(.endlessHead).failure?.code == "responseHeaderTooLarge")
    #expect(end(.endlessHead, status: nil).outcome == .maybeSent)
    #expect(end(.unclearEnd).outcome == .answered && end(.unclearEnd).failure?.code == "responseCorrupt")
    let long = end(.longHead, isWhole: true)
    #expect(long.outcome == .answered && long.failure?.code == "responseHeaderTooLarge")
    let cut = TransferEnd(
      code: CURLE_PARTIAL_FILE, requestSize: 80,
      response: ResponseProgress(status: 200, hasBegun: true, fault: .longHead))
    #expect(cut.outcome == .maybeSent && cut.failure?.code == "responseIncomplete")
  }

  @Test("a body that this side does not want any more is no answer")
  func declined() {
    let end = TransferEnd(
      code: CURLE_WRITE_ERROR, requestSize: 80,
      response: ResponseProgress(status: 200, hasBegun: true, wasDeclined: true))
    #expect(end.outcome == .localFault)
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
    let early = TransferEnd(code: CURLE_ABORTED_BY_CALLBACK, requestSize: 0, isForeign: true)
    #expect(early.outcome == .notSent && early.failure?.code == "responseInvalid")
  }
}
