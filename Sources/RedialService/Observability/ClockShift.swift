internal import Glibc
internal import RedialModel
internal import Synchronization

/// What tests add to the service's time: microseconds in a file of eight bytes, which the test changes while the service runs.
///
/// `REDIAL_TEST_CLOCK` names the file. It is for tests alone and no setting: time that jumps breaks what a lease stands on.
///
/// `@unchecked Sendable`: the pointer is to memory that stays mapped until this object goes, and is only read, by one aligned load of
/// eight bytes, which the processor does not tear.
final class ClockShift: @unchecked Sendable {
  /// The variable that names the file.
  static let variable = "REDIAL_TEST_CLOCK"

  private let memory: UnsafeRawPointer

  /// - Throws: ``ServiceStartError`` if there is no such file, or it is shorter than eight bytes.
  init(_ path: String) throws(ServiceStartError) {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    defer { if file >= 0 { close(file) } }
    var state = stat()
    guard file >= 0, fstat(file, &state) == 0, state.st_size >= MemoryLayout<Int64>.size,
      let memory = mmap(nil, MemoryLayout<Int64>.size, PROT_READ, MAP_SHARED, file, 0), memory != MAP_FAILED
    else {
      throw ServiceStartError(message: "\(Self.variable): \"\(path)\" is not a readable file of eight bytes")
    }
    self.memory = UnsafeRawPointer(memory)
  }

  deinit { munmap(UnsafeMutableRawPointer(mutating: memory), MemoryLayout<Int64>.size) }

  /// What to add to the time; a test may have changed it since the last call.
  var microseconds: Int64 {
    // The compiler must not keep what it has read before.
    atomicMemoryFence(ordering: .acquiring)
    return memory.load(as: Int64.self)
  }
}
