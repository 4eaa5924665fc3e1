import Glibc
import RedialStore
internal import RedialModel

/// Writes lines to standard output, or to a new file, many at a time.
struct LineWriter {
  private static let bufferBytes = 256 * 1024

  private let file: PartialFile?
  private var buffer: [UInt8] = []

  /// - Throws: If the file exists, or cannot be created.
  init(_ path: String?) throws(CommandError) {
    do throws(StoreError) {
      file = try path.map { path throws(StoreError) in try PartialFile(path) }
    } catch {
      throw CommandError(error)
    }
  }

  mutating func write(_ line: [UInt8]) throws(CommandError) {
    buffer += line
    buffer.append(UInt8(ascii: "\n"))
    if buffer.count >= Self.bufferBytes { try flush() }
  }

  /// Writes the rest; a file has its name and is on disk afterwards.
  mutating func finish() throws(CommandError) {
    try flush()
    do throws(StoreError) {
      _ = try file?.complete()
    } catch {
      throw CommandError(error)
    }
  }

  private mutating func flush() throws(CommandError) {
    guard Terminal.put(buffer, file?.descriptor ?? STDOUT_FILENO) else {
      guard let file else { Terminal.endAfterFailedWrite() }
      throw CommandError(
        code: .unsuccessful, message: "cannot write \(file.path): \(String(cString: strerror(errno)))")
    }
    do throws(StoreError) {
      try file?.rest()
    } catch {
      throw CommandError(error)
    }
    buffer.removeAll(keepingCapacity: true)
  }
}

/// Reads lines from standard input or from a file. It keeps little more than one line in memory.
struct LineReader {
  /// The maximum length of a line, in bytes: the largest call with all its captured responses is far below it.
  private static let maximumBytes = 1 << 30
  private static let chunkBytes = 1 << 20

  private let name: String
  private let descriptor: Int32

  /// - Parameter path: The file; nil or `-` for standard input.
  /// - Throws: If the file cannot be opened.
  init(_ path: String?) throws(CommandError) {
    let path = path == "-" ? nil : path
    name = path ?? "standard input"
    descriptor = path.map { open($0, O_RDONLY | O_CLOEXEC) } ?? STDIN_FILENO
    guard descriptor >= 0 else { throw Self.failure(name) }
  }

  /// Calls `body` with each line, without its end, until it returns false; the bytes are valid only during the call.
  ///
  /// A byte order mark before the first line is left out.
  mutating func forEach(_ body: (UnsafeBufferPointer<UInt8>) -> Bool) throws(CommandError) {
    var isFirst = true
    try forEachWithMark { line in
      defer { isFirst = false }
      return body(isFirst ? UnsafeBufferPointer(rebasing: FileReading.text(line)) : line)
    }
  }

  private mutating func forEachWithMark(_ body: (UnsafeBufferPointer<UInt8>) -> Bool) throws(CommandError) {
    defer { if descriptor != STDIN_FILENO { close(descriptor) } }
    var held: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: Self.chunkBytes)
    while true {
      let count = read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw Self.failure(name) }
      if count == 0 { break }
      let scanned = held.count
      held += chunk[..<count]
      let used: Int? = held.withUnsafeBufferPointer { bytes in
        var (start, search) = (0, scanned)
        while let end = bytes[search...].firstIndex(of: UInt8(ascii: "\n")) {
          guard body(UnsafeBufferPointer(rebasing: bytes[start..<end])) else { return nil }
          start = end + 1
          search = start
        }
        return start
      }
      guard let used else { return }
      held.removeFirst(used)
      guard held.count <= Self.maximumBytes else {
        throw CommandError(code: .unsuccessful, message: "\(name): a line is longer than \(Self.maximumBytes) bytes")
      }
    }
    held.withUnsafeBufferPointer { if !$0.isEmpty { _ = body($0) } }
  }

  private static func failure(_ name: String) -> CommandError {
    CommandError(code: .unsuccessful, message: "cannot read \(name): \(String(cString: strerror(errno)))")
  }
}
