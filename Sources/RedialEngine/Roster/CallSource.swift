internal import RedialModel

/// What a server may count a call by: its path, and the credentials that it shows.
///
/// Servers partition their quotas by users, applications, resources or all of these
/// (draft-ietf-httpapi-ratelimit-headers-10, section 6.1). What else a call contains says less about that.
struct CallSource: Sendable, Hashable {
  private let hash: Int

  init(_ spec: CallSpec) {
    var hasher = Hasher()
    hasher.combine(spec.pathHash)
    for field in spec.headers where field.isCredential { hasher.combine(field.value) }
    hasher.combine(spec.credential)
    hash = hasher.finalize()
  }
}
