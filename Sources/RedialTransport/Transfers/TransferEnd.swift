import RedialText

internal import CCurl
internal import Glibc
internal import RedialCore
internal import RedialModel

/// libcurl's report about a transfer that has ended, and its meaning.
///
/// The classes follow measurements of libcurl 7.88.1: over HTTP/1.1, `CURLINFO_REQUEST_SIZE` shows in all tested
/// cases whether any byte of the request was sent.
struct TransferEnd {
  /// The result code.
  var code: CURLcode
  /// Bytes of requests that were passed to the kernel.
  var requestSize: Int
  /// The `errno` of a connection that failed; 0 for none.
  var systemError: Int32 = 0
  /// Whether libcurl was about to send the request a second time, and was prevented.
  var wasRepeated = false
  /// Whether the target's certificate does not say whom it is for.
  var isUnnamed = false
  /// Whether the target requires HTTP/1.1 for the request.
  var needsHTTP1 = false
  /// How far the response has come.
  var response = ResponseProgress()
  /// Whether the target has said that it has not processed the request (RFC 9113 §8.7).
  var isRefused = false
  /// Whether what arrived was to something else than the request.
  var isForeign = false
  /// Why the egress policy refused every address that was found; nil if it allowed one, or none was found.
  var refusal: EgressPolicy.Refusal?
  /// Whether a redirect was followed before: then something was sent, and may have been executed.
  var hasBeenAnswered = false
  /// The result of checking the server's certificate: an `X509_V_ERR` of OpenSSL.
  var verification = 0
  /// Whether a proxy is used, and its status for a tunnel request; 0 for none.
  var isProxied = false
  var tunnelStatus = 0
  /// Whether the request needs a tunnel through the proxy.
  var needsTunnel = false
  /// Whether there was a connection to the proxy or, without one, to the target.
  var isConnected = true
  /// The helper that does not work now; nil if the target is at fault.
  var down: Helper?
  /// Why no more of the body was available, if the transfer ended because of that.
  var bodyFault: BodyFault?
  /// libcurl's message, for people; empty if there is none.
  var detail = ""

  /// Whether the request was valid, so that it could begin.
  var isSetUp: Bool { code != CURLE_URL_MALFORMAT && code != CURLE_UNSUPPORTED_PROTOCOL || requestSize > 0 }

  /// The outcome of the attempt.
  var outcome: OutcomeClass {
    let last = lastOutcome
    return last == .notSent && hasBeenAnswered ? .maybeSent : last
  }

  /// Whether a response decides what follows.
  ///
  /// Its status does, whatever is wrong behind it: what a target sends wrong it would send again, after executing the
  /// request again. Only a success whose body the network has cut is none yet: a call may need all of it, and the next
  /// attempt may get it.
  private var isAnswered: Bool {
    guard !isForeign, !isStrangerToProxy, let status = response.status else { return false }
    return response.isWhole || !(200...299).contains(status) || isMalformed
  }

  /// Whether the proxy does not know who asks. Only a proxy answers so (RFC 9110 section 15.5.8), to each request alike.
  var isStrangerToProxy: Bool {
    isProxied && (tunnelStatus == 407 || tunnelStatus == 0 && response.status == 407)
  }

  /// Whether the proxy has ended the connection, or has sent something that is no answer, in place of making a tunnel.
  private var hasBrokenProxy: Bool {
    guard isProxied, needsTunnel, tunnelStatus == 0, requestSize == 0 else { return false }
    return [CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_GOT_NOTHING, CURLE_WEIRD_SERVER_REPLY, CURLE_PROXY].contains(code)
  }

  /// Whether what the target sent is wrong, and not only cut.
  private var isMalformed: Bool {
    switch response.fault {
    case .notHTTP, .endlessHead, .unclearEnd: return true
    case .longHead, nil: break
    }
    switch code {
    case CURLE_WRITE_ERROR: return !response.wasDeclined
    // libcurl has no code of its own for a chunk that is none.
    case CURLE_RECV_ERROR: return detail.contains("chunk")
    default: return Self.malformed.contains(code.rawValue)
    }
  }

  /// libcurl's codes for a line of more than 100 KB: 100 is CURLE_TOO_LARGE, which newer versions have.
  private static let largeLine: Set<UInt32> = [CURLE_OUT_OF_MEMORY.rawValue, 100]

  /// libcurl's codes for responses that it cannot read. CURLE_BAD_FUNCTION_ARGUMENT is that of 7.88 for a trailer without a
  /// name.
  private static let malformed: Set<UInt32> = largeLine.union(
    [
      CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL, CURLE_BAD_FUNCTION_ARGUMENT, CURLE_BAD_CONTENT_ENCODING,
      CURLE_FILESIZE_EXCEEDED,
    ].map(\.rawValue))

  /// Whether the target has refused the client's certificate, or wants one. With TLS 1.3 it says so only when the request is
  /// on its way, which it then does not read.
  private var hasRefusedClient: Bool {
    guard !response.hasBegun, code != CURLE_OK else { return false }
    if code == CURLE_SSL_CLIENTCERT { return true }
    guard let alert = detail.firstRange(of: " alert ") else { return false }
    return ["certificate", "unknown ca", "access denied"].contains { detail[alert.upperBound...].contains($0) }
  }

  /// The outcome of its last request.
  private var lastOutcome: OutcomeClass {
    if isAnswered { return .answered }
    if isStrangerToProxy || hasBrokenProxy { return .localFault }
    if code == CURLE_OK { return .maybeSent }
    if refusal != nil { return .blocked }
    if isUnnamed { return .unusable }
    if hasRefusedClient { return .notSent }
    if bodyFault != nil { return .localFault }
    if isRefused || isForeign && requestSize == 0 { return .notSent }
    if wasRepeated || isForeign || response.fault != nil { return .maybeSent }
    switch code {
    case CURLE_OUT_OF_MEMORY where requestSize == 0: return .localFault
    // Files here that cannot be read, or do not fit each other, such as while they are replaced. That of a key that is not the
    // certificate's is 8.22's.
    case CURLE_SSL_CERTPROBLEM, CURLE_SSL_CACERT_BADFILE: return .localFault
    case CURLE_BAD_FUNCTION_ARGUMENT where requestSize == 0: return .localFault
    case CURLE_COULDNT_CONNECT where Self.isLocal(systemError): return .localFault
    // A proxy belongs to the operator, so its faults are not the target's.
    case CURLE_COULDNT_CONNECT where isProxied, CURLE_OPERATION_TIMEDOUT where isProxied && !isConnected:
      return .localFault
    case CURLE_COULDNT_RESOLVE_PROXY: return .localFault
    case CURLE_COULDNT_RESOLVE_HOST where down != nil, CURLE_OPERATION_TIMEDOUT where down != nil: return .localFault
    case _ where tunnelStatus >= 300 && requestSize == 0: return .notSent
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT, CURLE_SSL_CONNECT_ERROR,
      CURLE_QUIC_CONNECT_ERROR, CURLE_PROXY:
      return .notSent
    case CURLE_OPERATION_TIMEDOUT, CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_HTTP2,
      CURLE_HTTP2_STREAM, CURLE_HTTP3:
      return requestSize > 0 ? .maybeSent : .notSent
    case CURLE_PARTIAL_FILE, CURLE_WEIRD_SERVER_REPLY: return .maybeSent
    case CURLE_UNSUPPORTED_PROTOCOL: return requestSize > 0 ? .maybeSent : .unusable
    case CURLE_WRITE_ERROR, CURLE_READ_ERROR, CURLE_ABORTED_BY_CALLBACK: return .localFault
    // A sent request cannot be taken back, unless the target's identity or the response's form is permanently wrong.
    default: return requestSize == 0 || Self.permanent.contains(code.rawValue) ? .unusable : .maybeSent
    }
  }

  /// Faults that a retry cannot repair, even if the request may have been sent.
  private static let permanent: Set<UInt32> = Set(
    [
      CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_CIPHER,
      CURLE_PEER_FAILED_VERIFICATION, CURLE_USE_SSL_FAILED, CURLE_SSL_ENGINE_INITFAILED,
      CURLE_LOGIN_DENIED, CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
      CURLE_SSL_INVALIDCERTSTATUS, CURLE_AUTH_ERROR,
    ].map(\.rawValue))

  /// Whether a connection failed because this side had no resources.
  private static func isLocal(_ code: Int32) -> Bool {
    switch code {
    case EMFILE, ENFILE, ENOBUFS, ENOMEM, EADDRNOTAVAIL: true
    default: false
    }
  }

  /// What went wrong; nil if there was a response and nothing is wrong with it.
  var failure: AttemptFailure? {
    if response.isWhole, response.status != nil, response.fault == nil, !isStrangerToProxy { return nil }
    // libcurl's message could reveal the addresses of a name.
    if let refusal {
      let word = "egress" + refusal.rule.prefix(1).uppercased() + refusal.rule.dropFirst()
      return AttemptFailure(code: word, message: "The egress policy refuses \(refusal.clause).")
    }
    if let bodyFault { return AttemptFailure(code: bodyFault.code, message: "\(bodyFault.message).") }
    let (word, sentence) = description
    // Of a whole response, libcurl's message is about what was done here.
    let isPlain = detail.isEmpty || response.isWhole
    return AttemptFailure(code: word, message: isPlain ? "\(sentence)." : "\(sentence): \(detail).")
  }

  private var description: (code: String, sentence: String) {
    if isStrangerToProxy {
      return ("proxyRefused", "The proxy asks for a name and a password: its URL has none, or others")
    }
    if hasBrokenProxy { return ("proxyRefused", "The proxy made no tunnel to the target, and did not say why") }
    if isRefused { return ("requestRefused", "The target has not processed the request, and says so") }
    if isForeign {
      return ("responseInvalid", "What arrived on the connection began before the request, so it is no response to it")
    }
    if isUnnamed {
      return ("certificateWrongHost", "The target's certificate names its host in no subjectAltName, which it must")
    }
    if hasRefusedClient {
      return ("clientCertificateUnusable", "The target did not accept the client certificate, or wants one")
    }
    if needsHTTP1 {
      return ("http1Required", "The target requires HTTP/1.1 for the request; the next attempt is over it")
    }
    if wasRepeated { return ("connectionClosed", "The target closed a kept connection when the request was sent") }
    switch response.fault {
    case .notHTTP: return ("responseInvalid", "The target's response is not HTTP")
    case .unclearEnd: return ("responseCorrupt", "The response does not say clearly how long it is")
    case .endlessHead: return Self.largeHead
    case .longHead where response.isWhole: return Self.largeHead
    case .longHead, nil: break
    }
    if requestSize > 0, Self.largeLine.contains(code.rawValue) { return Self.largeHead }
    if response.status != nil, isMalformed {
      return ("responseCorrupt", "What came behind the status of the response is not HTTP")
    }
    switch code {
    case CURLE_COULDNT_RESOLVE_PROXY: return ("proxyUnreachable", "The name of the proxy could not be resolved")
    case CURLE_COULDNT_RESOLVE_HOST where down == .resolver, CURLE_OPERATION_TIMEDOUT where down == .resolver:
      return ("resolverUnavailable", "The resolver of this machine cannot say now what the address of the host is")
    case CURLE_OPERATION_TIMEDOUT where down == .proxy: return ("proxyUnreachable", "The proxy does not answer")
    case CURLE_COULDNT_RESOLVE_HOST:
      return ("unknownHost", "The name of the host could not be resolved")
    case CURLE_COULDNT_CONNECT where Self.isLocal(systemError):
      return ("localResources", "No connection could be made: this machine is out of file descriptors or memory")
    case CURLE_COULDNT_CONNECT where isProxied, CURLE_OPERATION_TIMEDOUT where isProxied && !isConnected:
      return ("proxyUnreachable", "No connection to the proxy could be made")
    case _ where tunnelStatus >= 300 && requestSize == 0:
      return ("proxyRefused", "The proxy made no tunnel to the target, and answered \(tunnelStatus)")
    case CURLE_COULDNT_CONNECT where systemError == ECONNREFUSED:
      return ("connectionRefused", "The target refused the connection")
    case CURLE_COULDNT_CONNECT: return ("connectFailed", "No connection to the target could be made")
    case CURLE_OPERATION_TIMEDOUT where requestSize == 0:
      return ("connectTimeout", "No connection to the target could be made in time")
    case CURLE_OPERATION_TIMEDOUT where response.hasBegun:
      return ("timeout", "The target's response did not end in time")
    case CURLE_OPERATION_TIMEDOUT: return ("timeout", "The target did not answer in time")
    case CURLE_SSL_CONNECT_ERROR: return ("tlsFailed", "No TLS session with the target could be made")
    case CURLE_PEER_FAILED_VERIFICATION: return certificate
    case CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS:
      return ("certificateInvalid", "The target's certificate is not valid")
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
      return ("certificateNotPinned", "The target's certificate has none of the public keys that it must have")
    case CURLE_SSL_CERTPROBLEM, CURLE_BAD_FUNCTION_ARGUMENT:
      return (
        "clientCertificateUnusable",
        "The client certificate for the target, or its key, cannot be used: each is in a file of at most 1 MiB"
      )
    case CURLE_SSL_CACERT_BADFILE:
      return (
        "issuersUnreadable", "The file of trusted certificate authorities cannot be read: it may have at most 1 MiB"
      )
    case CURLE_PARTIAL_FILE, CURLE_OK: return Self.incomplete
    case _ where response.status != nil && !response.wasDeclined: return Self.incomplete
    case CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_SEND_FAIL_REWIND:
      return response.hasBegun
        ? Self.incomplete : ("connectionClosed", "The target closed the connection without a response")
    case CURLE_UNSUPPORTED_PROTOCOL where requestSize > 0, CURLE_FILESIZE_EXCEEDED, CURLE_WEIRD_SERVER_REPLY,
      CURLE_HTTP2, CURLE_HTTP2_STREAM:
      return ("responseInvalid", "The target's response is not HTTP")
    case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL: return ("urlUnusable", "The URL cannot be used")
    case CURLE_OUT_OF_MEMORY: return ("localResources", "This machine is out of memory")
    default: return ("transferFailed", "The attempt failed")
    }
  }

  private static let incomplete: (code: String, sentence: String) = (
    "responseIncomplete", "The target closed the connection during its response"
  )
  private static let largeHead: (code: String, sentence: String) = (
    "responseHeaderTooLarge", "The response's header is larger than is accepted"
  )

  /// What is said beside the status of a response whose body is shown as it came.
  static let falseCoding = AttemptFailure(
    code: "responseCorrupt", message: "The body of the response is not in the coding that it names.")

  private var certificate: (code: String, sentence: String) {
    // X509_V_ERR_CERT_NOT_YET_VALID, _HAS_EXPIRED, _SELF_SIGNED_CERT…; libcurl compares names itself, and reports a
    // mismatch only as text.
    switch verification {
    case _ where detail.contains("subject name"):
      ("certificateWrongHost", "The target's certificate is for another host")
    case 9: ("certificateNotYetValid", "The target's certificate is not valid yet")
    case 10: ("certificateExpired", "The target's certificate has expired")
    case 18, 19: ("certificateSelfSigned", "The target's certificate is self-signed, and is not trusted")
    case 2, 20, 21, 27: ("certificateUntrusted", "The issuer of the target's certificate is not trusted")
    case 23: ("certificateRevoked", "The target's certificate was revoked")
    default: ("certificateInvalid", "The target's certificate is not valid")
    }
  }
}
