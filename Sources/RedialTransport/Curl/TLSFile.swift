internal import CCurl
internal import Glibc
internal import RedialModel

/// What libcurl reads when it makes a connection, on the thread of all transfers: something that is no file, such as a pipe, or
/// a very large one, would stop them all.
enum TLSFile {
  /// The largest file of certificates, or of a key, in bytes: five times that of all usual issuers.
  static let mostBytes = 1 << 20

  /// Why libcurl must not read the files of some settings; `CURLE_OK` if it may. One that is missing is left to it.
  static func check(_ target: TargetTLS?, otherwise general: TLSSettings) -> CURLcode {
    guard isReadable(target?.certificate), isReadable(target?.key) else { return CURLE_SSL_CERTPROBLEM }
    return isReadable(target?.caFile ?? general.trustedIssuers) ? CURLE_OK : CURLE_SSL_CACERT_BADFILE
  }

  private static func isReadable(_ path: String?) -> Bool {
    var file = stat()
    guard let path, stat(path, &file) == 0 else { return true }
    return file.st_mode & S_IFMT == S_IFREG && file.st_size <= mostBytes
  }
}
