internal import CCurl
internal import RedialCore

/// Connections that nobody uses.
extension TransferLoop {
  /// Closes all connections once nothing was in flight for as long as one may be idle. libcurl itself closes one only when
  /// another transfer begins or ends, so those of a quiet service would stay, also if their targets have left.
  ///
  /// - Returns: How long the thread may sleep until then, in milliseconds.
  func closeIdle(sleep: Int32) -> Int32 {
    guard hasConnections else { return sleep }
    guard isQuiet else {
      quietSince = nil
      return sleep
    }
    let now = ContinuousClock.now
    let since = quietSince ?? now
    quietSince = since
    let left = configuration.maxConnectionIdleTime - (now - since)
    guard left <= .zero else { return Int32(clamping: min(Int64(sleep), left.wholeMicroseconds / 1000 + 1)) }
    if let fresh = curl_multi_init() { renew(with: fresh) }
    (hasConnections, quietSince) = (false, nil)
    return sleep
  }
}
