internal import CCurl

extension HelperProbe {
  /// Asks whether a proxy says anything about a tunnel that it cannot make.
  static func proxy(_ configuration: TransportConfiguration) -> HelperProbe {
    HelperProbe {
      var configuration = configuration
      configuration.egress = nil
      let request = TransportRequest(
        id: 0, url: "https://redial-probe.invalid/", method: "GET", timeout: .seconds(2), captureLimit: 0)
      guard let transfer = Transfer(configuration: configuration), transfer.prepare(request) == CURLE_OK else {
        return true
      }
      return curl_easy_perform(transfer.handle) != CURLE_OPERATION_TIMEDOUT
    }
  }
}
