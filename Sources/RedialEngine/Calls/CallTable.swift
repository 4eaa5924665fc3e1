internal import RedialModel

/// The calls in memory, by id.
///
/// They are in one array, so that a call is changed in place. From a dictionary each would be copied, with all its
/// references, and put back, several times in its short life. Beside the array is an index with linear probing
/// (Knuth, The Art of Computer Programming 3, 6.4, algorithms L and R), whose hash is one multiplication: Redial
/// makes the ids, so nobody can choose them to collide.
struct CallTable: Sendable {
  /// The calls, in no particular order.
  private(set) var values: [ActiveCall] = []
  /// The places of the calls, -1 for none: a power of two, at least twice as many as there are calls.
  private var index: [Int32] = Array(repeating: -1, count: 16)

  /// How many calls there are.
  var count: Int { values.count }
  var isEmpty: Bool { values.isEmpty }
  /// The ids of the calls, in no particular order.
  var keys: [CallID] { values.map(\.record.id) }

  /// The place of a call, until the next one is taken out; nil if it is not here.
  func place(of id: CallID) -> Int? {
    let place = index[slot(of: id)]
    return place < 0 ? nil : Int(place)
  }

  /// The call at a place.
  subscript(at place: Int) -> ActiveCall {
    _read { yield values[place] }
    _modify { yield &values[place] }
  }

  /// A copy of a call; nil if it is not here.
  subscript(id: CallID) -> ActiveCall? {
    get { place(of: id).map { values[$0] } }
    set {
      guard let newValue else {
        removeValue(forKey: id)
        return
      }
      insert(newValue)
    }
  }

  /// The stamp of a call; nil if it is not here.
  func stamp(of id: CallID) -> UInt32? {
    place(of: id).map { values[$0].stamp }
  }

  /// Inserts or replaces a call. Returns its place.
  @discardableResult
  mutating func insert(_ call: consuming ActiveCall) -> Int {
    let id = call.record.id
    if let place = place(of: id) {
      values[place] = call
      return place
    }
    if (values.count + 1) * 2 > index.count { grow() }
    let place = values.count
    index[slot(of: id)] = Int32(place)
    values.append(call)
    return place
  }

  /// Takes a call out; nil if it is not here. Another may be at its place then.
  @discardableResult
  mutating func removeValue(forKey id: CallID) -> ActiveCall? {
    let slot = slot(of: id)
    let place = Int(index[slot])
    guard place >= 0 else { return nil }
    vacate(slot)
    var taken = values.removeLast()
    if place < values.count {
      // The last takes its place. It is moved: an array's own way of swapping would copy both.
      swap(&taken, &values[place])
      moved(values[place].record.id, from: values.count, to: place)
    }
    return taken
  }

  // MARK: The index

  /// The slot of a call in the index, or the slot where it would be.
  private func slot(of id: CallID) -> Int {
    var slot = home(of: id)
    while index[slot] >= 0, values[Int(index[slot])].record.id != id { slot = (slot + 1) & (index.count - 1) }
    return slot
  }

  /// The first slot to look in for a call.
  private func home(of id: CallID) -> Int {
    // Fibonacci hashing (Knuth, section 6.4): the upper bits of a product with 2^64 divided by the golden ratio.
    Int(truncatingIfNeeded: (UInt64(bitPattern: id.rawValue) &* 0x9E37_79B9_7F4A_7C15) >> 32) & (index.count - 1)
  }

  /// Updates the index after a call has moved.
  private mutating func moved(_ id: CallID, from old: Int, to place: Int) {
    var slot = home(of: id)
    while index[slot] != Int32(old) { slot = (slot + 1) & (index.count - 1) }
    index[slot] = Int32(place)
  }

  /// Empties a slot in the index, and moves those after it that would not be found any more.
  private mutating func vacate(_ emptied: Int) {
    let mask = index.count - 1
    var hole = emptied
    var slot = (hole + 1) & mask
    while index[slot] >= 0 {
      let home = home(of: values[Int(index[slot])].record.id)
      // Not if its home is behind the hole, cyclically: then it is found without passing the hole.
      if (slot - home) & mask >= (slot - hole) & mask {
        index[hole] = index[slot]
        hole = slot
      }
      slot = (slot + 1) & mask
    }
    index[hole] = -1
  }

  private mutating func grow() {
    index = Array(repeating: -1, count: index.count * 2)
    for place in values.indices { index[slot(of: values[place].record.id)] = Int32(place) }
  }
}
