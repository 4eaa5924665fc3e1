internal import RedialText

extension TargetKey {
  /// The origin that a client may mean by a key that no target has: of a URL with a path, or of a host without a scheme.
  static func origin(meantBy key: String) -> String? {
    // A proxy may have made one slash of two.
    let scheme = ["https:/", "http:/"].first { key.hasPrefix($0) }
    let rest = key.dropFirst(scheme?.count ?? 0).drop { $0 == "/" }
    guard scheme != nil || rest.contains("."),
      let origin = try? TargetURL("\(scheme ?? "https:/")/\(rest)").origin, origin != key
    else { return nil }
    return origin
  }
}

extension Problem {
  /// 404: no target has the key.
  package static func targetNotFound(_ key: String) -> Problem {
    let advice =
      TargetKey.origin(meantBy: key).map { "This may be \($0): GET /v1/targets/\(PercentCoding.encode($0))." }
      ?? "GET /v1/targets lists the keys."
    return Problem(
      .targetNotFound,
      detail: "No target has the key \"\(key)\": no call to it has been seen since the service started, and it has no "
        + "settings. The target of a call is its URL's origin, unless the call names one. \(advice)")
  }
}
