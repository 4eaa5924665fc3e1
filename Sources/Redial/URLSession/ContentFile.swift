internal import Foundation

/// A file for the content of an answer. Used by one thread at a time.
final class ContentFile: Sendable {
  private struct State {
    var handle: FileHandle?
    var count = 0
    var error: (any Error)?
  }

  private let url = FileManager.default.temporaryDirectory.appendingPathComponent(
    "redial-download-\(UUID().uuidString)")
  private let state: Guarded<State>

  init() {
    let isThere = FileManager.default.createFile(
      atPath: url.path, contents: nil, attributes: [.posixPermissions: 0o600])
    state = Guarded(State(handle: isThere ? FileHandle(forWritingAtPath: url.path) : nil))
  }

  func write(_ data: Data) {
    state.withLock { state in
      guard state.error == nil else { return }
      do {
        guard let handle = state.handle else { throw URLError(.cannotCreateFile) }
        try handle.write(contentsOf: data)
        state.count += data.count
      } catch {
        state.error = URLError(.cannotWriteToFile)
      }
    }
  }

  /// Closes the file, and removes it if something went wrong.
  ///
  /// - Parameter error: What went wrong elsewhere.
  func finish(_ error: (any Error)?) throws -> HTTPAnswer.Content {
    let (count, failure) = state.withLock { state in
      let isThere = state.handle != nil
      do {
        try state.handle?.close()
      } catch {
        state.error = state.error ?? URLError(.cannotCloseFile)
      }
      state.handle = nil
      return (state.count, error ?? state.error ?? (isThere ? nil : URLError(.cannotCreateFile)))
    }
    if let failure {
      discard()
      throw failure
    }
    return .file(url, count: count)
  }

  /// Removes the file. If that fails, the cleanup of the temporary directory removes it.
  func discard() {
    try? FileManager.default.removeItem(at: url)
  }
}
