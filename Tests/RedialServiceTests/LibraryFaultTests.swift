import RedialService
import Testing

@Suite("Known faults of older libraries")
struct LibraryFaultTests {
  private func faults(_ name: LinkedLibrary.Name, _ version: String) -> Int {
    LinkedLibrary(name, version).faults.count
  }

  @Test("concern the versions before the one that mended them")
  func versions() {
    for old in ["7.88.1", "8.20.0", "8.9.1", "8.20.0-DEV"] { #expect(faults(.libcurl, old) == 5, "\(old)") }
    for new in ["8.21.0", "8.21.0-DEV", "8.100.0", "9.0"] { #expect(faults(.libcurl, new) == 0, "\(new)") }
    for old in ["3.40.1", "3.44.5", "3.45.9", "3.50.6", "3.51.2"] { #expect(faults(.sqlite, old) == 1, "\(old)") }
    for new in ["3.44.6", "3.50.7", "3.51.3", "3.53.4"] { #expect(faults(.sqlite, new) == 0, "\(new)") }
    #expect(faults(.zlib, "1.2.13") == 0)
  }

  @Test("say what happens, since when it does not, and what is done about it")
  func sentences() {
    for fault in LibraryFault.all {
      #expect(fault.sentence.hasPrefix("In \(fault.library.rawValue) before \(fault.mendedIn) \(fault.effect). "))
      #expect(fault.sentence.hasSuffix(fault.guardedBy.map { "Guarded: \($0)." } ?? " Not guarded."))
    }
  }

  @Test("each library of this process tells its version")
  func linked() {
    #expect(LinkedLibrary.all.count == 6)
    for library in LinkedLibrary.all {
      #expect(library.version.split(separator: ".").compactMap { Int($0) }.count >= 2, "\(library)")
    }
  }
}
