internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// The result of one exchange.
struct HTTPAnswer: Sendable {
  /// Where content is.
  enum Content: Sendable {
    /// In memory: also for an error answer to a download or a stream, up to a limit.
    case data(Data)
    case file(URL, count: Int)
    /// Still arriving.
    case stream(HTTPByteStream)
  }

  var response: URLResponse
  var content: Content

  /// Whether there is certainly no content.
  var isEmpty: Bool {
    switch content {
    case .data(let data): data.isEmpty
    case .file(_, let count): count == 0
    case .stream: response.expectedContentLength == 0
    }
  }

  /// Removes the parts that are not used.
  func discard() {
    if case .file(let file, _) = content { try? FileManager.default.removeItem(at: file) }
  }
}
