internal import CCurl
internal import Glibc
internal import RedialCore
internal import RedialModel

/// What libcurl tells of a transfer that has ended, and what it means.
///
/// The classes follow measurements of libcurl 7.88.1: whether any byte of the request left is told by
/// `CURLINFO_REQUEST_SIZE`, over HTTP/1.1, in every case that was tried.
struct TransferEnd {
  /// The result code.
  var code: CURLcode
  /// Bytes of requests that were handed to the kernel.
  var requestSize: Int
  /// The `errno` of a connection that failed; 0 for none.
  var systemError: Int32 = 0
  /// Whether libcurl was about to send the request a second time, and was kept from it.
  var wasRepeated = false
  /// Whether the response was broken off because it had grown beyond its bound, its header being whole.
  var wasEnough = false
  /// Whether the response's header was larger than its bound.
  var hasOversizedHead = false
  /// Why the egress policy refused every address that was found; nil when it allowed one, or none was found.
  var refusal: EgressPolicy.Refusal?
  /// What libcurl says, for people; empty when it says nothing.
  var detail = ""

  /// How far the attempt got.
  var outcome: OutcomeClass {
    if code == CURLE_OK || wasEnough { return .answered }
    if refusal != nil { return .blocked }
    if wasRepeated || hasOversizedHead { return .maybeSent }
    switch code {
    case CURLE_OUT_OF_MEMORY: return .localFault
    case CURLE_COULDNT_CONNECT where Self.isLocal(systemError): return .localFault
    case CURLE_COULDNT_RESOLVE_PROXY, CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_CONNECT, CURLE_SSL_CONNECT_ERROR,
      CURLE_QUIC_CONNECT_ERROR, CURLE_PROXY:
      return .notSent
    case CURLE_OPERATION_TIMEDOUT, CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_HTTP2,
      CURLE_HTTP2_STREAM, CURLE_HTTP3:
      return requestSize > 0 ? .maybeSent : .notSent
    case CURLE_PARTIAL_FILE, CURLE_WEIRD_SERVER_REPLY: return .maybeSent
    case CURLE_UNSUPPORTED_PROTOCOL: return requestSize > 0 ? .maybeSent : .unusable
    case CURLE_WRITE_ERROR, CURLE_READ_ERROR, CURLE_ABORTED_BY_CALLBACK: return .localFault
    // A code that nobody has met: what left cannot be taken back.
    default: return Self.permanent.contains(code.rawValue) || requestSize == 0 ? .unusable : .maybeSent
    }
  }

  /// Faults of the request or of its target's identity, which another try cannot mend.
  private static let permanent: Set<UInt32> = Set(
    [
      CURLE_FAILED_INIT, CURLE_URL_MALFORMAT, CURLE_NOT_BUILT_IN, CURLE_BAD_FUNCTION_ARGUMENT, CURLE_INTERFACE_FAILED,
      CURLE_UNKNOWN_OPTION, CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_CERTPROBLEM,
      CURLE_SSL_CIPHER, CURLE_PEER_FAILED_VERIFICATION, CURLE_BAD_CONTENT_ENCODING, CURLE_FILESIZE_EXCEEDED,
      CURLE_USE_SSL_FAILED, CURLE_SEND_FAIL_REWIND, CURLE_SSL_ENGINE_INITFAILED, CURLE_LOGIN_DENIED,
      CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_PINNEDPUBKEYNOTMATCH,
      CURLE_SSL_INVALIDCERTSTATUS, CURLE_RECURSIVE_API_CALL, CURLE_AUTH_ERROR, CURLE_SSL_CLIENTCERT,
      CURLE_UNRECOVERABLE_POLL,
    ].map(\.rawValue))

  /// Whether a connection failed for want of something on this side.
  private static func isLocal(_ code: Int32) -> Bool {
    switch code {
    case EMFILE, ENFILE, ENOBUFS, ENOMEM, EADDRNOTAVAIL: true
    default: false
    }
  }

  /// What went wrong; nil when the attempt was answered.
  var error: TransportError? {
    guard outcome != .answered else { return nil }
    // What libcurl says could tell what a name resolved to.
    if let refusal {
      let word = "egress" + refusal.rule.prefix(1).uppercased() + refusal.rule.dropFirst()
      return TransportError(code: word, message: "The egress policy refuses \(refusal.clause).")
    }
    let (word, sentence) = description
    return TransportError(code: word, message: detail.isEmpty ? "\(sentence)." : "\(sentence): \(detail).")
  }

  private var description: (code: String, sentence: String) {
    if wasRepeated { return ("connectionClosed", "The target closed a kept connection when the request was sent") }
    if hasOversizedHead { return ("responseHeaderTooLarge", "The response's header is larger than is accepted") }
    switch code {
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
      return ("unknownHost", "The name of the host could not be resolved")
    case CURLE_COULDNT_CONNECT where Self.isLocal(systemError):
      return ("localResources", "No connection could be made for want of resources here")
    case CURLE_COULDNT_CONNECT where systemError == ECONNREFUSED:
      return ("connectionRefused", "The target refused the connection")
    case CURLE_COULDNT_CONNECT: return ("connectFailed", "No connection to the target could be made")
    case CURLE_OPERATION_TIMEDOUT where requestSize == 0:
      return ("connectTimeout", "No connection to the target could be made in time")
    case CURLE_OPERATION_TIMEDOUT: return ("timeout", "The target did not answer in time")
    case CURLE_SSL_CONNECT_ERROR: return ("tlsFailed", "No TLS session with the target could be made")
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS:
      return ("certificateInvalid", "The target's certificate is not valid")
    case CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR:
      return ("connectionClosed", "The target closed the connection without an answer")
    case CURLE_PARTIAL_FILE: return ("responseIncomplete", "The target closed the connection within its answer")
    case CURLE_UNSUPPORTED_PROTOCOL where requestSize > 0, CURLE_WEIRD_SERVER_REPLY, CURLE_HTTP2, CURLE_HTTP2_STREAM:
      return ("responseInvalid", "What the target answered is not HTTP")
    case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL: return ("urlUnusable", "The URL cannot be used")
    case CURLE_OUT_OF_MEMORY: return ("localResources", "There was not enough memory here")
    default: return ("transferFailed", "The attempt failed")
    }
  }
}
