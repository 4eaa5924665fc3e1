internal import CCurl

/// One exchange at a time, on the thread that asks: for command lines and tests.
public enum BlockingHTTPClient {
  /// Performs a request on a connection of its own.
  public static func perform(_ request: TransportRequest) -> TransportResult {
    var configuration = TransportConfiguration(userAgent: "redial")
    configuration.maxResponseBytes = request.captureLimit
    guard LibCurl.isUsable, let transfer = Transfer(configuration: configuration) else {
      return .outOfMemory(request.id)
    }
    let fault = transfer.prepare(request)
    return transfer.result(fault == CURLE_OK ? curl_easy_perform(transfer.handle) : fault)
  }
}
