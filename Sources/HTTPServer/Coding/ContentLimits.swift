/// The limits for decompressing a body; see ``HTTPServerConfiguration`` for each.
struct ContentLimits: Equatable {
  var maxBodyBytes = 1024 * 1024
  var maxInflationRatio = 100
  var inflationFloorBytes = 64 * 1024

  /// The maximum size of a body that arrived with that many bytes.
  func bound(of codedBytes: Int) -> Int {
    let (product, overflow) = codedBytes.multipliedReportingOverflow(by: maxInflationRatio)
    return min(maxBodyBytes, max(inflationFloorBytes, overflow ? .max : product))
  }
}
