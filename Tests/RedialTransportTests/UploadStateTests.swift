import Testing

@testable import RedialTransport

@Suite("The body that is sent")
struct UploadStateTests {
  /// What libcurl gets, in rooms of that size.
  private func given(by upload: inout Upload, _ room: Int) -> [UInt8] {
    var all: [UInt8] = []
    let memory = UnsafeMutablePointer<CChar>.allocate(capacity: room)
    defer { memory.deallocate() }
    while true {
      let count = upload.give(memory, room)
      if count == 0 { return all }
      all += UnsafeBufferPointer(start: memory, count: count).map { UInt8(bitPattern: $0) }
    }
  }

  @Test("a small body is passed at once, in memory that the next one uses too")
  func small() throws {
    var upload = Upload()
    for size in [3, 60_000, 5] {
      let body = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
      let given = upload.begin(body)
      let start = try #require(given)
      #expect([UInt8](UnsafeRawBufferPointer(start: start, count: size)) == body)
      #expect(upload.isPiecewise == false)
    }
  }

  @Test("a large body is passed piece by piece, and again from an offset")
  func large() {
    let body = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
    var upload = Upload()
    #expect(upload.begin(body) == nil)
    #expect(upload.isPiecewise == true)
    #expect(given(by: &upload, 16_384) == body)
    #expect(upload.seek(to: 150_000) == true)
    #expect(given(by: &upload, 1000) == [UInt8](body[150_000...]))
    #expect(upload.seek(to: 200_001) == false)
    #expect(upload.seek(to: -1) == false)
    upload.end()
    #expect(upload.isPiecewise == false)
    #expect(given(by: &upload, 10).isEmpty == true)
  }

  @Test("a body is stuck when nothing of it was sent since the last check")
  func stuck() {
    var upload = Upload()
    #expect(upload.isStuck(at: 0) == true)
    #expect(upload.isStuck(at: 10) == false)
    #expect(upload.isStuck(at: 10) == true)
    upload.beginChecks()
    #expect(upload.isStuck(at: 10) == false)
  }
}
