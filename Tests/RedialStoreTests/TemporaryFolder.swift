import Glibc

/// A folder for one test, removed with its value.
final class TemporaryFolder: Sendable {
  let path: String

  init() {
    let template = Array("\(Self.base)/redial-store-XXXXXX".utf8CString)
    path = template.withUnsafeBufferPointer { template in
      var name = Array(template)
      return name.withUnsafeMutableBufferPointer { name in
        guard let start = name.baseAddress, mkdtemp(start) != nil else { fatalError("mkdtemp failed: \(errno)") }
        return String(cString: start)
      }
    }
  }

  deinit {
    Self.remove(path)
  }

  func file(_ name: String) -> String { path + "/" + name }

  /// Memory, if there is enough: the stores sync each commit, and what they do must not depend on how long that takes.
  private static let base: String = {
    var memory = statvfs()
    let isLarge = statvfs("/dev/shm", &memory) == 0 && UInt64(memory.f_bavail) * UInt64(memory.f_frsize) > 4 << 30
    return isLarge ? "/dev/shm" : "/tmp"
  }()

  private static func remove(_ path: String) {
    if let folder = opendir(path) {
      while let entry = readdir(folder) {
        let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
          String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        if name != "." && name != ".." { remove(path + "/" + name) }
      }
      closedir(folder)
      rmdir(path)
    } else {
      unlink(path)
    }
  }
}

/// The bytes of a file, or nil when there is none.
func contents(of path: String) -> [UInt8]? {
  let file = open(path, O_RDONLY)
  guard file >= 0 else { return nil }
  defer { close(file) }
  var all: [UInt8] = []
  var part = [UInt8](repeating: 0, count: 1 << 16)
  while true {
    let count = read(file, &part, part.count)
    guard count > 0 else { return all }
    all += part[..<count]
  }
}

func writeFile(_ path: String, _ bytes: [UInt8]) {
  let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
  guard file >= 0, write(file, bytes, bytes.count) == bytes.count, close(file) == 0 else {
    fatalError("could not write \(path)")
  }
}

func permissions(of path: String) -> mode_t {
  var status = stat()
  return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
}
