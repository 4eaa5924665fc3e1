internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// What one exchange has brought.
struct HTTPAnswer: Sendable {
  /// Where content is.
  enum Content: Sendable {
    /// In memory: also what an error answer to a download or a stream has, up to a bound.
    case data(Data)
    case file(URL, count: Int)
    /// Still on its way.
    case stream(HTTPByteStream)
  }

  var response: URLResponse
  var content: Content

  /// Whether it is known that there is no content.
  var isEmpty: Bool {
    switch content {
    case .data(let data): data.isEmpty
    case .file(_, let count): count == 0
    case .stream: response.expectedContentLength == 0
    }
  }

  /// Removes what nobody will take.
  func discard() {
    if case .file(let file, _) = content { try? FileManager.default.removeItem(at: file) }
  }
}
