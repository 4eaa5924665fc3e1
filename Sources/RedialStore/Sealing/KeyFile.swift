internal import Glibc
internal import RedialJSON
package import RedialModel
internal import Synchronization

/// The file with the key that wraps data keys: 32 bytes in base 64 on its first line. Further lines are older keys, which only
/// unwrap.
package final class KeyFile: KeyKeeper {
  private struct Key: Sendable {
    let fingerprint: String
    let cipher: GCMKey
  }

  private let path: String
  private let keys: Mutex<[Key]>
  /// Is called when the file was made.
  private let made: @Sendable (_ path: String) -> Void

  /// Reads the file that a setting names.
  ///
  /// - Parameter store: A store that may have a key file beside it from before. That key unwraps, too.
  package init(_ path: String, formerlyBeside store: String? = nil) throws(StoreError) {
    (self.path, made) = (path, { _ in })
    let older = try store.map { store throws(StoreError) in try Self.read(store + ".key", isOptional: true) }
    keys = Mutex(try Self.read(path, isOptional: false) + (older ?? []))
  }

  /// The file beside a store, if there is one yet.
  ///
  /// - Parameter made: Is called when the file was made.
  package init(besideStore path: String, made: @escaping @Sendable (_ path: String) -> Void) throws(StoreError) {
    (self.path, self.made) = (path + ".key", made)
    keys = Mutex(try Self.read(path + ".key", isOptional: true))
  }

  package func wrap(_ key: [UInt8], _ name: SealedName) throws(StoreError) -> (wrapped: [UInt8], by: String) {
    let first = try first()
    return (
      Sealing.seal(key, name, key: 0, first.cipher, nonce: .random()), first.fingerprint
    )
  }

  package func unwrap(_ wrapped: [UInt8], by: String, _ name: SealedName) throws(StoreError) -> [UInt8] {
    let known = keys.withLock { $0 }
    guard let key = known.first(where: { $0.fingerprint == by }) else {
      let has = known.isEmpty ? "there is no such file" : "it has \(known.map(\.fingerprint).joined(separator: ", "))"
      throw Vault.missing(by, "What is encrypted here needs the key \(by), and \(path) does not have it: \(has).")
    }
    guard let plain = wrapped.withUnsafeBufferPointer({ Sealing.open($0, name, key.cipher) }),
      plain.count == GCMKey.keyBytes
    else {
      throw StoreError(
        kind: .corrupt,
        message: "A data key in the store, wrapped by \(by), is damaged (\(name)). Restore the store from a backup.")
    }
    return plain
  }

  package func isOld(by: String) -> Bool {
    keys.withLock { $0.first.map { $0.fingerprint != by } ?? false }
  }

  /// The key that wraps. The file beside a store is made for it.
  private func first() throws(StoreError) -> Key {
    if let key = keys.withLock({ $0.first }) { return key }
    let isNew = try Self.make(path)
    let read = try Self.read(path, isOptional: false)
    keys.withLock { $0 = read }
    if isNew { made(path) }
    return read[0]
  }

  /// Copies a key file, as it is, into a new one.
  ///
  /// - Throws: If it cannot be used as a key, or if there is such a file.
  package static func copy(_ path: String, to target: String) throws(StoreError) {
    _ = try read(path, isOptional: false)
    func failure() -> StoreError {
      StoreError(
        kind: .unavailable,
        message: "The key file \(path) could not be copied to \(target): \(String(cString: strerror(errno))).")
    }
    let source = open(path, O_RDONLY | O_CLOEXEC)
    guard source >= 0 else { throw failure() }
    defer { close(source) }
    var bytes = [UInt8](repeating: 0, count: longest)
    let count = Glibc.read(source, &bytes, bytes.count)
    guard count > 0 else { throw failure() }
    let file = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw failure() }
    defer { close(file) }
    guard write(file, bytes, count) == count, fsync(file) == 0 else { throw failure() }
  }

  // MARK: The file

  /// The largest file that is read, in bytes.
  private static let longest = 16 * 1024

  private static func read(_ path: String, isOptional: Bool) throws(StoreError) -> [Key] {
    func refusal(_ reason: String) -> StoreError {
      StoreError(
        kind: .unavailable,
        message:
          "The key file \(path) cannot be used: \(reason). It must have mode 0600, and 32 random bytes in base 64, "
          + "such as `(umask 077; openssl rand -base64 32 > FILE)` makes it."
          + (isOptional ? " Put it back, or move it away: without it, the service starts, and makes another." : ""))
    }
    // A pipe is not waited for.
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    if file < 0, isOptional, errno == ENOENT { return [] }
    guard file >= 0 else { throw refusal(String(cString: strerror(errno))) }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { throw refusal("it is not a file") }
    guard isGuarded(status.st_mode, of: status.st_uid, from: getuid()) else {
      throw refusal("others may read it, its mode is 0\(String(status.st_mode & 0o777, radix: 8))")
    }
    var bytes = [UInt8](repeating: 0, count: longest)
    let count = Glibc.read(file, &bytes, bytes.count)
    guard count >= 0 else { throw refusal(String(cString: strerror(errno))) }
    let lines = String(decoding: bytes.prefix(count), as: UTF8.self).split { $0.isNewline }
    var keys: [Key] = []
    for line in lines {
      guard let key = Base64.decode(String(line)), key.count == GCMKey.keyBytes else {
        throw refusal("line \(keys.count + 1) is not the base 64 of 32 bytes")
      }
      keys.append(Key(fingerprint: SealingBytes.fingerprint(key), cipher: GCMKey(key)))
    }
    guard !keys.isEmpty else { throw refusal("it is empty") }
    return keys
  }

  /// Makes the file, complete or not at all, unless there is one.
  ///
  /// - Returns: Whether it was made.
  private static func make(_ path: String) throws(StoreError) -> Bool {
    let passing = "\(path).\(getpid())"
    func failure() -> StoreError {
      StoreError(
        kind: .unavailable,
        message: "The key file \(path), which secrets in the store need, could not be made: "
          + "\(String(cString: strerror(errno))). Make the folder writable, or set encryptionKeyFile.")
    }
    unlink(passing)
    let file = open(passing, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw failure() }
    defer { unlink(passing) }
    let text = Array((Base64.encode(SealingBytes.random(GCMKey.keyBytes)) + "\n").utf8)
    let isWritten = write(file, text, text.count) == text.count && fsync(file) == 0
    close(file)
    guard isWritten else { throw failure() }
    let isNew = link(passing, path) == 0
    guard isNew || errno == EEXIST else { throw failure() }
    let folder = path.contains("/") ? String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]) : "."
    let directory = open(folder.isEmpty ? "/" : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard directory >= 0 else { throw failure() }
    defer { close(directory) }
    // Values that it seals must not outlive it.
    guard fsync(directory) == 0 else { throw failure() }
    return isNew
  }

  /// Whether only those may read a file who should: its owner alone, or, if root has put it there for another user, the file's
  /// group, too. So a secret that Kubernetes mounts for a group can be used.
  static func isGuarded(_ mode: mode_t, of owner: uid_t, from user: uid_t) -> Bool {
    mode & 0o777 & ~(owner == 0 && user != 0 ? 0o640 : 0o600) == 0
  }
}
