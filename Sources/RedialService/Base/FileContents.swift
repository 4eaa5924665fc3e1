internal import Glibc

/// Whole files, for the few small ones that Redial reads.
enum FileContents {
  /// The longest file that is read, in bytes.
  private static let maximumBytes = 1 << 20

  /// The bytes of a file; nil, with `errno` set, if it cannot be read.
  static func read(_ path: String) -> [UInt8]? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16 * 1024)
    while bytes.count < maximumBytes {
      let count = Glibc.read(file, &chunk, chunk.count)
      if count < 0 { return nil }
      if count == 0 { break }
      bytes += chunk[..<count]
    }
    return bytes
  }
}
