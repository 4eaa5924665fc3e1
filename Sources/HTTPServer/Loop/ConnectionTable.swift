/// The connections of a loop, by slot, and how many more it may have.
struct ConnectionTable: ~Copyable {
  private var slots: [Connection?] = []
  private var freeSlots: [Int] = []
  /// The number of the last connection, in 31 bits: distinguishes those that had the same slot one after another.
  private var generation: UInt32 = 0
  /// The number of the last request.
  private var serial: UInt64 = 0
  /// How many connections there are.
  private(set) var count = 0
  /// How many of them are beyond the limit, only to be refused.
  private(set) var surplusCount = 0
  private let limit: Int
  private let surplusLimit: Int

  /// - Parameters:
  ///   - limit: The maximum number of connections.
  ///   - surplusLimit: The maximum number of connections beyond it.
  init(limit: Int, surplusLimit: Int) {
    self.limit = limit
    self.surplusLimit = surplusLimit
  }

  /// Whether another connection is within the limit.
  var hasRoom: Bool { count - surplusCount < limit }
  /// Whether another connection may be beyond the limit.
  var hasSurplusRoom: Bool { surplusCount < surplusLimit }
  /// All connections. It is a copy: they may be removed while it is read.
  var all: [Connection] { slots.compactMap { $0 } }

  subscript(slot: Int) -> Connection? { slots[slot] }

  /// The connection that an event of epoll belongs to; nil if it has been closed since.
  func connection(tag: UInt64) -> Connection? {
    let slot = Int(tag & 0xffff_ffff)
    guard slot < slots.count, let connection = slots[slot], connection.generation == UInt32(tag >> 32) else {
      return nil
    }
    return connection
  }

  /// The connection that waits for the answer to that request.
  func connection(of token: RequestToken) -> Connection? {
    guard Int(token.slot) < slots.count, let connection = slots[Int(token.slot)], connection.serial == token.serial
    else { return nil }
    return connection
  }

  /// Adds a connection: beyond the limit if there is no room within it.
  mutating func add(_ descriptor: Int32) -> Connection {
    let slot: Int
    if let free = freeSlots.popLast() {
      slot = free
    } else {
      slot = slots.count
      slots.append(nil)
    }
    generation = (generation &+ 1) & 0x7fff_ffff
    let connection = Connection(descriptor: descriptor, slot: slot, generation: generation)
    connection.isSurplus = !hasRoom
    slots[slot] = connection
    count += 1
    if connection.isSurplus { surplusCount += 1 }
    return connection
  }

  /// Moves a connection that is beyond the limit within it. There must be room.
  mutating func admit(_ connection: Connection) {
    precondition(connection.isSurplus && hasRoom, "a connection is admitted once, and only within the limit")
    connection.isSurplus = false
    surplusCount -= 1
  }

  /// Removes a connection, which its caller still holds.
  mutating func remove(_ connection: Connection) {
    precondition(slots[connection.slot] === connection, "a connection is removed once")
    slots[connection.slot] = nil
    freeSlots.append(connection.slot)
    count -= 1
    if connection.isSurplus { surplusCount -= 1 }
  }

  /// Gives the connection's current request a serial of its own.
  mutating func numberRequest(of connection: Connection) {
    serial &+= 1
    connection.serial = serial
  }
}
