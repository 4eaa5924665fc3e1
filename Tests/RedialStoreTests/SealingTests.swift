import Dispatch
import Glibc
import RedialModel
import StoreConformance
import Synchronization
import Testing

@testable import RedialSQLite
@testable import RedialStore

@Suite("sealed values")
struct SealingTests {
  let folder = TemporaryFolder()

  private func bytes(_ hex: String) -> [UInt8] {
    let digits = Array(hex)
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(String(digits[$0...($0 + 1)]), radix: 16) ?? 0 }
  }

  /// Test cases 13 to 16 of "The Galois/Counter Mode of Operation", which NIST SP 800-38D is of.
  private static let key = "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"
  private static let plain =
    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657"
    + "ba637b39"
  private static let cipher =
    "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0a"
    + "bcc9f662"

  @Test(
    "AES-256-GCM gives the known answers",
    arguments: [
      (String(repeating: "0", count: 64), "000000000000000000000000", "", "", "", "530f8afbc74536b9a963b4f1c4cb738b"),
      (
        String(repeating: "0", count: 64), "000000000000000000000000", "", "00000000000000000000000000000000",
        "cea7403d4d606b6e074ec5d3baf39d18", "d0d1c8a799996bf0265b98b5d48ab919"
      ),
      (
        key, "cafebabefacedbaddecaf888", "", plain + "1aafd255", cipher + "898015ad", "b094dac5d93471bdec1a502270e3cc6c"
      ),
      (
        key, "cafebabefacedbaddecaf888", "feedfacedeadbeeffeedfacedeadbeefabaddad2", plain, cipher,
        "76fc6ece0f4e1768cddf8853bb2d551b"
      ),
    ])
  func knownAnswers(_ key: String, _ nonce: String, _ name: String, _ plain: String, _ cipher: String, _ tag: String) {
    let gcm = GCMKey(bytes(key))
    let (nonce, name, plain) = (bytes(nonce), bytes(name), bytes(plain))
    // Twice, because the second time uses a context again.
    for _ in 0..<2 {
      var sealed = [UInt8](repeating: 0, count: plain.count + 16)
      sealed.withUnsafeMutableBytes { output in
        plain.withUnsafeBytes { plain in
          name.withUnsafeBytes { gcm.seal(plain, $0, nonce: nonce, into: output.baseAddress!) }
        }
      }
      #expect(sealed == bytes(cipher) + bytes(tag))
      var opened = [UInt8](repeating: 0, count: plain.count + 1)
      let isIntact = opened.withUnsafeMutableBytes { output in
        sealed.withUnsafeBytes { sealed in
          name.withUnsafeBytes { gcm.open(sealed, $0, nonce: nonce, into: output.baseAddress!) }
        }
      }
      #expect(isIntact && opened.dropLast() == plain[...])
    }
  }

  @Test("a value of any size opens, and not after any change of a byte, nor under another name")
  func chunks() throws {
    let vault = try vault("a")
    let name = SealedName.call(Sample.id(1), .body)
    for size in [0, 1, 1000, 65_535, 65_536, 65_537, 200_000] {
      let plain = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) }
      let sealed = vault.seal(plain, name, in: "n")
      #expect(sealed.count == SealedForm.size(of: size) && SealedForm.plainSize(of: sealed.count) == size)
      #expect(try vault.opened(sealed, name) == plain)
      for other in [
        SealedName.call(Sample.id(2), .body), .call(Sample.id(1), .spec), .attempt(Sample.id(1), number: 1, .body),
        .setting("n"),
      ] { #expect(throws: SealDamage.changed) { try vault.opened(sealed, other) } }
      for place in [5, 16, 17, sealed.count / 2, sealed.count - 1] {
        var changed = sealed
        changed[place] ^= 1
        #expect(throws: SealDamage.changed) { try vault.opened(changed, name) }
      }
      for end in [5, sealed.count - 1, sealed.count - 16, 5 + 28 + 65_536] where end < sealed.count {
        #expect(throws: SealDamage.changed) { try vault.opened(Array(sealed[..<end]), name) }
      }
    }
    // Sizes that no value has.
    for size in [0, 4, 5, 32, 5 + 28 + 65_536 + 1, 5 + 28 + 65_536 + 28] {
      #expect(SealedForm.plainSize(of: size) == nil)
    }
    // The same value is never sealed to the same bytes, and chunks do not change places.
    let long = [UInt8](repeating: 1, count: 131_072)
    let sealed = vault.seal(long, name, in: "n")
    #expect(sealed != vault.seal(long, name, in: "n"))
    let (first, second) = (
      SealedForm.range(ofChunk: 0, in: sealed.count), SealedForm.range(ofChunk: 1, in: sealed.count)
    )
    let swapped: [UInt8] = Array(sealed[..<5]) + Array(sealed[second]) + Array(sealed[first])
    #expect(throws: SealDamage.changed) { try vault.opened(swapped, name) }
  }

  /// A vault with a key of the namespace `n`.
  private func vault(_ file: String) throws -> Vault {
    let vault = Vault(try KeyFile(besideStore: folder.file(file)) { _ in }, sealsAll: true)
    try vault.add(try #require(try vault.newKey(of: "n")))
    return vault
  }

  @Test("a nonce is never given twice")
  func nonces() {
    var nonces = Nonces()
    var seen: Set<UInt32> = []
    let first = nonces.take(5)
    for _ in 0..<1000 {
      let next = nonces.take(1)
      #expect(next.prefix == first.prefix && seen.insert(next.count).inserted)
    }
    #expect(seen.min() == first.count + 5)
    var others = Nonces()
    #expect(others.take(1).prefix != first.prefix)
  }

  // MARK: Key files

  private func keyFile(_ name: String, _ content: String, mode: mode_t = 0o600) throws -> String {
    let path = folder.file(name)
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    defer { close(file) }
    #expect(write(file, content, content.utf8.count) == content.utf8.count)
    fchmod(file, mode)
    return path
  }

  private static let keys = (1...3).map { Base64Line([UInt8](repeating: $0, count: 32)) }

  private func Base64LineText(_ keys: [Int]) -> String { keys.map { Self.keys[$0].text + "\n" }.joined() }

  @Test("a key file that others may read, or that has no key, is refused")
  func badKeyFiles() throws {
    let good = Base64LineText([0])
    for mode: mode_t in [0o640, 0o604, 0o660, 0o777] {
      let error = #expect(throws: StoreError.self) { try KeyFile(keyFile("k", good, mode: mode)) }
      #expect(error?.message.contains("others may read it") == true)
    }
    for content in ["", "\n", "short\n", String(good.dropFirst()), good + "more\n"] {
      #expect(throws: StoreError.self) { try KeyFile(keyFile("k", content)) }
    }
    #expect(throws: StoreError.self) { try KeyFile(folder.file("none")) }
    let pipe = folder.file("pipe")
    #expect(mkfifo(pipe, 0o600) == 0)
    let error = #expect(throws: StoreError.self) { try KeyFile(pipe) }
    #expect(error?.message.contains("it is not a file") == true)
    for mode: mode_t in [0o600, 0o400] { _ = try KeyFile(keyFile("ok", good, mode: mode)) }
  }

  @Test("older lines of a key file unwrap, and at the next start the first line wraps")
  func rotatedKeyFile() throws {
    let path = folder.file("calls.db")
    func run(_ keys: [Int], _ body: (SQLiteStore) throws -> Void) throws {
      let vault = Vault(try KeyFile(keyFile("key", Base64LineText(keys))), sealsAll: true)
      let store = try SQLiteStore(path: path, vault: vault)
      defer { store.close() }
      try body(store)
    }
    let document = StoredDocument(.alert, id: "a", Array("{\"secret\":1}".utf8))
    try run([0]) { try $0.commit([.put(document)]) }
    let error = #expect(throws: StoreError.self) { try run([1]) { _ in } }
    #expect(error?.message.contains("encryptionKeyFile") == true)
    #expect(error?.message.contains(Self.keys[0].fingerprint) == true)
    try run([1, 0]) { store throws in #expect(try store.documents(.alert) == [document]) }
    try run([1]) { store throws in #expect(try store.documents(.alert) == [document]) }
    #expect(throws: StoreError.self) { try run([0]) { _ in } }
    #expect(throws: StoreError.self) { _ = try SQLiteStore(path: path) }
  }

  @Test("a program can wrap the keys, and what it does wrong is said")
  func keyCommand() throws {
    func program(_ text: String) -> KeyCommand {
      let path = folder.file("program-\(text.utf8.count)")
      writeFile(path, Array("#!/bin/sh\n\(text)\n".utf8))
      chmod(path, 0o700)
      return KeyCommand(path)
    }
    // It wraps nothing: what it gets it prints.
    let good = program("exec cat")
    let path = folder.file("calls.db")
    for _ in 0..<2 {
      let store = try SQLiteStore(path: path, vault: Vault(good, sealsAll: true))
      try store.commit([.put(StoredDocument(.alert, id: "a", Self.content))])
      #expect(try store.documents(.alert).map(\.content) == [Self.content])
      store.close()
    }
    let failing = [
      program("exit 3"), program("echo nothing good"), program("echo AAAA"), KeyCommand(folder.file("none")),
    ]
    for command in failing {
      let error = #expect(throws: StoreError.self) {
        try SQLiteStore(path: path, vault: Vault(command, sealsAll: true))
      }
      #expect(error?.message.contains("encryptionKeyCommand") == true)
    }
  }

  @Test("all who need a key of another instance wait for it, also while another one does")
  func waitsWithOthers() {
    let slow = SlowUnwrapping()
    let found = Mutex(0)
    var stored = StoredDataKey()
    stored.key = 7
    DispatchQueue.concurrentPerform(iterations: 2) { [stored] number in
      // The second comes while the first waits.
      if number == 1 { usleep(50_000) }
      let key = try? slow.key(
        of: stored,
        unwrap: {
          usleep(300_000)
          return DataKey(id: 7, namespace: "a", generation: 1, SealingBytes.random(GCMKey.keyBytes))
        }, isMissing: { false }, found: {})
      if key?.id == 7 { found.withLock { $0 += 1 } }
    }
    #expect(found.withLock { $0 } == 2)
  }

  @Test("a key that is made before it is needed is stored with what it seals first, and the program is not asked then")
  func preparedKey() throws {
    let (path, program) = (folder.file("calls.db"), folder.file("program"))
    func write(_ text: String) {
      writeFile(program, Array("#!/bin/sh\n\(text)\n".utf8))
      chmod(program, 0o700)
    }
    write("exec cat")
    let vault = Vault(KeyCommand(program), sealsAll: true)
    let store = try SQLiteStore(path: path, vault: vault)
    defer { store.close() }
    #expect(!vault.hasKey(of: "default"))
    try vault.prepare("default")
    #expect(vault.hasKey(of: "default"))
    write("exit 3")
    // One that was rolled back with its transaction waits for the next one.
    let document = StoredDocument(.alert, id: "a", Self.content)
    #expect(throws: StoreError.self) { try store.commit([.insert(Sample.call(1)), .add(document), .add(document)]) }
    try store.commit([.insert(Sample.call(1))])
    #expect(try store.documents(.dataKey).map(\.id).contains("default@1"))
    #expect(throws: StoreError.self) { try vault.prepare("other") }
    #expect(!vault.hasKey(of: "other"))
    write("exec cat")
    let other = Vault(KeyCommand(program), sealsAll: true)
    try other.load(try store.documents(.dataKey))
    #expect(other.hasKey(of: "default"))
  }

  @Test(
    "a program that does not end is killed after its time, with all that it has started",
    arguments: ["exec sleep 1000", "exec >&-; exec sleep 1000", "sleep 1000", "while :; do echo AAAA; sleep 0.1; done"])
  func hangingProgram(text: String) throws {
    let (path, started) = (folder.file("program"), folder.file("started"))
    // A child is in its group, and is killed with it.
    writeFile(path, Array("#!/bin/sh\nsleep 1000 & echo $$ $! >\(started)\n\(text)\n".utf8))
    chmod(path, 0o700)
    let process = try KeyProcess(path, "wrap", [])
    #expect(Self.eventually { Self.content(of: started).hasSuffix("\n") })
    guard case .late = process.end(within: .milliseconds(50)) else {
      Issue.record("it has ended")
      return
    }
    for number in Self.content(of: started).split(whereSeparator: \.isWhitespace) {
      // One that nobody has waited for is a zombie.
      #expect(
        Self.eventually {
          let state = Self.content(of: "/proc/\(number)/stat")
          return state.isEmpty || state.contains(") Z ")
        }, "\(number) still runs")
    }
  }

  private static func eventually(_ condition: () -> Bool) -> Bool {
    let end = ContinuousClock.now + .seconds(60)
    while !condition() {
      guard ContinuousClock.now < end else { return false }
      usleep(1000)
    }
    return true
  }

  /// The first bytes of a file; none if there is none.
  private static func content(of path: String) -> String {
    let file = open(path, O_RDONLY)
    guard file >= 0 else { return "" }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 1000)
    let count = read(file, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
  }

  @Test("a program that prints without end is killed")
  func endlessProgram() throws {
    let path = folder.file("program")
    writeFile(path, Array("#!/bin/sh\nexec yes\n".utf8))
    chmod(path, 0o700)
    guard case .tooMuch = try KeyProcess(path, "wrap", []).end(within: .seconds(60)) else {
      Issue.record("it was not killed for that")
      return
    }
  }

  @Test("what a program leaves running does not keep its answer back")
  func daemon() throws {
    let path = folder.file("program")
    writeFile(path, Array("#!/bin/sh\nsleep 60 &\necho AAAA\n".utf8))
    chmod(path, 0o700)
    guard case .ended(0, let output) = try KeyProcess(path, "wrap", []).end(within: .seconds(60)) else {
      Issue.record("it has not ended")
      return
    }
    #expect(output == Array("AAAA\n".utf8))
  }

  // MARK: Stores

  private static let content = Array("{\"secret\":\"whsec_known\"}".utf8)

  /// Whether a text is in a file of the store.
  private func finds(_ text: String) throws -> Bool {
    for suffix in ["", "-wal"] {
      guard let file = try RegularFile(folder.file("calls.db") + suffix) else { continue }
      let content = String(decoding: try file.bytes(at: 0, 1 << 22), as: Unicode.ASCII.self)
      if content.contains(text) { return true }
    }
    return false
  }

  @Test("without a key, only secrets are sealed, by a key that is made beside the store")
  func besideStore() throws {
    let path = folder.file("calls.db")
    func run(_ body: (SQLiteStore) throws -> Void) throws -> [String] {
      let made = MadeFiles()
      let store = try SQLiteStore(path: path, vault: Vault(try KeyFile(besideStore: path) { made.add($0) }))
      defer { store.close() }
      try body(store)
      return made.all
    }
    #expect(try run { _ in } == [])
    let made = try run { store in
      #expect(try store.keepSetting("webhookSecret", orElse: "whsec_known") == "whsec_known")
      try store.commit([.put(StoredDocument(.webhookEndpoint, id: "e", Self.content))])
      try store.commit([.put(StoredDocument(.policy, id: "a", Array("{\"plain\":1}".utf8)))])
    }
    #expect(made == [path + ".key"])
    let found = (try finds("whsec_known"), try finds("{\"plain\":1}"))
    #expect(!found.0 && found.1)
    var status = stat()
    #expect(stat(path + ".key", &status) == 0 && status.st_mode & 0o777 == 0o600)
    let madeAgain = try run { store throws in
      #expect(try store.setting("webhookSecret") == "whsec_known")
      #expect(try store.document(.webhookEndpoint, id: "e") == Self.content)
      #expect(try store.replaceDocument(.webhookEndpoint, id: "e", Self.content, with: [1, 2]))
      #expect(try store.replaceDocument(.webhookEndpoint, id: "e", Self.content, with: [3]) == false)
      #expect(try store.document(.webhookEndpoint, id: "e") == [1, 2])
    }
    #expect(madeAgain == [])
    unlink(path + ".key")
    let error = #expect(throws: StoreError.self) { _ = try run { _ in } }
    #expect(error?.message.contains("there is no such file") == true)
  }

  @Test("without a key no secret is stored, in whichever document or setting it is")
  func refused() throws {
    let chat = Array(#"{"name":"a","createdAt":1,"channel":"slack","address":"https://a.example/b"}"#.utf8)
    let endpoint = Array(#"{"name":"b","createdAt":1,"address":"whe_0000000000001"}"#.utf8)
    for document in [
      StoredDocument(.alert, id: "a", chat), StoredDocument(.alert, id: "damaged", [1]),
      StoredDocument(.webhookEndpoint, id: "e", []), StoredDocument(.credential, id: "c", []),
    ] {
      #expect(throws: StoreError.self) { try Vault.none.check(document) }
      try TestKey.vault().check(document)
    }
    try Vault.none.check(StoredDocument(.alert, id: "b", endpoint))
    #expect(throws: StoreError.self) { try Vault.none.check(setting: "webhookSecret") }
    try Vault.none.check(setting: "peerSecret")
  }

  @Test("secrets from before there was a key are sealed at the next start")
  func fromBefore() throws {
    let path = folder.file("calls.db")
    let plain = try SQLiteStore(path: path)
    try plain.setSetting("webhookSecret", to: "whsec_known")
    try plain.commit([.put(StoredDocument(.webhookEndpoint, id: "e", Self.content))])
    plain.close()
    let store = try SQLiteStore(path: path, vault: Vault(try KeyFile(besideStore: path) { _ in }))
    #expect(try store.setting("webhookSecret") == "whsec_known")
    #expect(try store.document(.webhookEndpoint, id: "e") == Self.content)
    store.close()
    let isPlain = try finds("whsec_known")
    #expect(!isPlain)
  }

  @Test("a key file is for its owner, and one of root's for its group")
  func guarded() {
    for (mode, owner, user, isGuarded) in [
      (0o600, 7, 7, true), (0o400, 7, 7, true), (0o640, 7, 7, false), (0o604, 7, 7, false), (0o440, 0, 7, true),
      (0o640, 0, 7, true), (0o660, 0, 7, false), (0o644, 0, 7, false), (0o440, 8, 7, false), (0o640, 0, 0, false),
      (0o600, 0, 0, true),
    ] as [(mode_t, uid_t, uid_t, Bool)] {
      #expect(KeyFile.isGuarded(mode, of: owner, from: user) == isGuarded, "\(String(mode, radix: 8)) of \(owner)")
    }
  }

  @Test("a changed document, setting or data key is found")
  func tampering() throws {
    let path = folder.file("calls.db")
    func open() throws -> SQLiteStore {
      try SQLiteStore(path: path, vault: Vault(try KeyFile(keyFile("key", Base64LineText([0]))), sealsAll: true))
    }
    let store = try open()
    try store.commit([.put(StoredDocument(.alert, id: "a", Self.content)), .put(StoredDocument(.alert, id: "b", []))])
    try store.setSetting("webhookSecret", to: "whsec_known")
    func change(_ sql: String) throws { try store.file.connection.execute("change", sql) }
    try change("UPDATE documents SET content = (SELECT content FROM documents WHERE id = 'b') WHERE id = 'a'")
    let moved = #expect(throws: StoreError.self) { try store.document(.alert, id: "a") }
    #expect(moved?.message.contains("The alert a in the store") == true)
    // It hides no other.
    try store.commit([.put(StoredDocument(.alert, id: "c", Self.content))])
    #expect(try store.documents(.alert).map(\.content) == [[], [], Self.content])
    try change(
      "UPDATE settings SET value = substr(value, 1, 30) || 'AAAA' || substr(value, 35) WHERE name = 'webhookSecret'")
    #expect(throws: StoreError.self) { try store.setting("webhookSecret") }
    try change(
      "UPDATE documents SET content = CAST(replace(CAST(content AS TEXT), 'wrapped\":\"9', 'wrapped\":\"8') AS BLOB) "
        + "WHERE kind = 'dataKey'")
    store.close()
    // What it has sealed is missed, and all else is there.
    let reopened = try open()
    #expect(throws: StoreError.self) { try reopened.document(.alert, id: "c") }
    reopened.close()
  }
}

/// A line of a key file.
private struct Base64Line: Sendable {
  let text: String
  let fingerprint: String

  init(_ key: [UInt8]) {
    text = Base64.encode(key)
    fingerprint = SealingBytes.fingerprint(key)
  }
}

/// The key files that were made.
private final class MadeFiles: @unchecked Sendable {
  private(set) var all: [String] = []
  func add(_ path: String) { all.append(path) }
}
