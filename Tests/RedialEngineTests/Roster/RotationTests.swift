@testable import RedialEngine
import Testing

@Suite("The rotation of targets and namespaces")
struct RotationTests {
  /// Takes targets out until none is left.
  private static func all(_ rotation: inout Rotation) -> [Int] {
    var taken: [Int] = []
    while let lane = rotation.first {
      rotation.removeFirst()
      if let target = rotation.takeTarget(of: lane) { taken.append(target) }
    }
    return taken
  }

  private static func rotation(targets: Int, lanes: Int) -> Rotation {
    var rotation = Rotation()
    for _ in 1..<lanes { rotation.addLane() }
    for target in 0..<targets { rotation.addTarget(target) }
    return rotation
  }

  @Test("namespaces alternate, however many targets each has, and a target is in it once")
  func alternates() {
    var rotation = Self.rotation(targets: 5, lanes: 2)
    for target in 0..<4 { rotation.enter(target, of: 0) }
    rotation.enter(4, of: 1)
    rotation.enter(4, of: 1)
    rotation.enter(0, of: 0)
    #expect(rotation.count == 2 && rotation.contains(4))
    #expect(Self.all(&rotation) == [0, 4, 1, 2, 3])
    #expect(rotation.isEmpty && !rotation.contains(4))
  }

  @Test("a namespace that is skipped keeps its targets")
  func skip() {
    var rotation = Self.rotation(targets: 2, lanes: 2)
    rotation.enter(0, of: 0)
    rotation.enter(1, of: 1)
    rotation.skip()
    #expect(rotation.first == 1)
    #expect(Self.all(&rotation) == [1, 0])
  }

  @Test("a target with attempts waits for their ends, one without waits for the pool")
  func waiting() {
    var rotation = Self.rotation(targets: 2, lanes: 1)
    rotation.wait(0, of: 0, hasInFlight: true)
    rotation.wait(0, of: 0, hasInFlight: true)
    rotation.wait(1, of: 0, hasInFlight: false)
    rotation.wait(1, of: 0, hasInFlight: false)
    #expect(rotation.crowdedCount == 1 && rotation.newcomers(of: 0) == 1 && rotation.isNewcomer(1))
    #expect(rotation.takeFreed() == 0)
    rotation.free()
    #expect(rotation.takeFreed() == 2 && rotation.takeFreed() == 0)
    #expect(rotation.takeCrowded() == 0 && rotation.takeCrowded() == nil)
    #expect(!rotation.hasNoNewcomers(0))
    #expect(rotation.takeNewcomer(of: 0) == 1 && rotation.takeNewcomer(of: 0) == nil)
    rotation.admit(1, of: 0)
    #expect(rotation.contains(1) && !rotation.hasNoNewcomers(0))
    #expect(rotation.takeAdmission(1, of: 0) && !rotation.takeAdmission(1, of: 0))
    #expect(rotation.hasNoNewcomers(0))
  }

  @Test("nothing is left of a target that is dropped")
  func drop() {
    var rotation = Self.rotation(targets: 3, lanes: 1)
    rotation.enter(0, of: 0)
    rotation.admit(1, of: 0)
    rotation.wait(2, of: 0, hasInFlight: false)
    rotation.drop { $0 > 0 }
    #expect(Array(rotation.targets(of: 0)) == [0])
    #expect(rotation.hasNoNewcomers(0) && !rotation.contains(1) && !rotation.isNewcomer(2))
  }
}
