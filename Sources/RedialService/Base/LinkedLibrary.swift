internal import CCrypto
internal import CCurl
internal import CPostgres
internal import CSQLite
internal import CZlib

/// A C library that this process runs with, in the version that answers at run time: a program can be compiled with the headers of
/// another one.
package struct LinkedLibrary: Sendable, Hashable {
  package enum Name: String, Sendable {
    case libcurl
    case nghttp2
    case openSSL = "OpenSSL"
    case sqlite = "SQLite"
    case zlib
    case libpq
  }

  package let name: Name
  /// As the library writes it, such as `8.21.0`.
  package let version: String

  package init(_ name: Name, _ version: String) {
    (self.name, self.version) = (name, version)
  }

  /// All of this process.
  package static let all: [LinkedLibrary] = {
    let curl = curl_version_info(CURLVERSION_SIXTH).pointee
    return [
      LinkedLibrary(.libcurl, String(cString: curl.version)),
      LinkedLibrary(.nghttp2, curl.nghttp2_version.map { String(cString: $0) } ?? "none"),
      LinkedLibrary(.openSSL, OpenSSL_version(OPENSSL_VERSION_STRING).map { String(cString: $0) } ?? "unknown"),
      LinkedLibrary(.sqlite, String(cString: sqlite3_libversion())),
      LinkedLibrary(.zlib, String(cString: zlibVersion())),
      LinkedLibrary(.libpq, "\(PQlibVersion() / 10_000).\(PQlibVersion() % 10_000)"),
    ]
  }()

  /// The faults of this version that matter here.
  package var faults: [LibraryFault] { LibraryFault.all.filter { $0.concerns(self) } }
}

extension LinkedLibrary: CustomStringConvertible {
  package var description: String { "\(name.rawValue) \(version)" }
}
