internal import RedialEngine
internal import RedialJSON
internal import RedialModel

/// A submission that is forwarded, and who waits for the answer.
struct ForwardedCall: Sendable {
  let descriptor: CallDescriptor
  let reply: ReplyToken<SubmissionReply>
  /// The call's identity.
  let identity: GivenIdentity

  /// About how many bytes a call has beside its URL, its header fields and its body when it is sent.
  private static let overhead = 1024

  /// About how many bytes it has when it is sent.
  var size: Int {
    let fields = descriptor.spec.headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
    return descriptor.spec.url.utf8.count + fields + descriptor.body.count + Self.overhead
  }

  /// The call as the owner has accepted it: what its target hides, only the owner is sure to know.
  func accepted(_ progress: CallProgress, hiding privacy: ForwardedReply.Privacy) -> CallRecord {
    var settings = TargetSettings()
    (settings.isSensitive, settings.redact) = (privacy.isSensitive, privacy.redact)
    return CallRecord(
      id: identity.id, kind: .call, spec: descriptor.spec.accepted(by: settings), body: descriptor.body,
      createdAt: identity.createdAt, progress: progress)
  }
}

/// What an owner answers to a forwarded submission.
enum ForwardedReply: Sendable {
  /// The call is on disk.
  case accepted(CallProgress, Privacy)
  /// The call was accepted before, under the same key.
  case replayed(CallID)
  /// The call is refused, for a reason that the client gets.
  case refused(Problem)
  /// The owner has done nothing: another instance may accept the call.
  case passedBack
  /// Nobody knows what the owner has done.
  case unknown

  /// What nobody sees of a call.
  struct Privacy: Sendable, Hashable {
    var isSensitive = false
    var redact: [JSONPointer] = []
  }

  /// The answer of an engine.
  init(_ reply: SubmissionReply) {
    switch reply {
    case .accepted(let record):
      self = .accepted(record.progress, Privacy(isSensitive: record.spec.isSensitive, redact: record.spec.redact))
    case .replayed(let id): self = .replayed(id)
    case .refused(.outcomeUnknown): self = .unknown
    case .refused(let refusal): self = refusal.othersMayAccept ? .passedBack : .refused(refusal.problem)
    }
  }
}
