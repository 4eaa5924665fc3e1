import Foundation
import Testing

@testable import RedialTransport

@Suite("A file of issuers as libcurl is given it")
struct IssuersFileTests {
  private static let later = 1 << 62

  @Test("it has one name as long as it is the same, and another when it is not")
  func names() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("issuers-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("ca.pem")
    func found(at now: Int = Self.later) -> IssuersFile { IssuersFile(file.path, at: now) }
    #expect(found().name == file.path && !found().isKept, "a missing one")
    try Data("one".utf8).write(to: file)
    #expect(!found(at: 0).isKept, "one that has just changed")
    let first = found()
    #expect(found(at: 0).name == first.name, "its connections are used on")
    #expect(first.isKept && first == found() && first.name != file.path)
    #expect(try String(contentsOfFile: first.name, encoding: .utf8) == "one")
    try Data("three".utf8).write(to: file)
    let second = found()
    #expect(second.isKept && second.name != first.name)
    #expect(try String(contentsOfFile: second.name, encoding: .utf8) == "three")
    // A name without a folder.
    #expect(IssuersFile("Package.swift", at: Self.later).name.hasSuffix("/Package.swift"))
  }
}
