internal import Glibc
internal import RedialModel

/// What libcurl reads when it makes a connection, on the thread of all transfers: something that is no file, such as a pipe, or
/// a very large one, would stop them all.
enum TLSFile {
  /// The largest file of certificates, or of a key, in bytes: five times that of all usual issuers.
  static let mostBytes = 1 << 20

  /// Whether libcurl may read the certificate and the key of a target. One that is missing is left to it.
  static func mayRead(_ target: TargetTLS?) -> Bool { mayRead(target?.certificate) && mayRead(target?.key) }

  private static func mayRead(_ path: String?) -> Bool {
    var file = stat()
    guard let path, stat(path, &file) == 0 else { return true }
    return mayRead(file)
  }

  static func mayRead(_ file: stat) -> Bool { file.st_mode & S_IFMT == S_IFREG && file.st_size <= mostBytes }
}
