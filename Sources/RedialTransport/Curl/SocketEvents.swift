internal import CCurl
internal import CLinux
internal import Glibc
internal import RedialCore
internal import RedialLanes

/// Waits with epoll for the sockets of libcurl's transfers. The cost of one round depends on the number of events,
/// not on the number of waiting transfers.
///
/// Not `Sendable`: it belongs to the thread that drives the transfers, except for its ``bell``.
final class SocketEvents {
  private let poll: Int32
  /// Ends a wait, from any thread.
  let bell: Bell
  private var events = [epoll_event](repeating: epoll_event(), count: 256)
  private var multi: UnsafeMutableRawPointer?
  /// When libcurl's timer is due, in nanoseconds of the monotonic clock; `.max` for never.
  private var deadline = Int64.max
  /// By descriptor.
  private var sockets: [Socket] = []
  /// Counts what libcurl was made to do.
  ///
  /// Sound: it is freed with this object, which outlives the connections.
  private let rounds = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)
  /// The connections whose sockets these are.
  var connections: Connections
  /// Is called before libcurl looks at its times, if that is late: with by how much.
  var wasLate: ((Duration) -> Void)?
  /// From when on, in nanoseconds.
  private static let lateness: Int64 = 200_000_000

  /// The events of a socket for which libcurl waits, and those that the kernel watches.
  private struct Socket {
    var wanted: UInt32 = 0
    var watched: UInt32 = 0
    /// Whether it was opened here, so that its closing is reported here too.
    var isOwn = false
    /// The only transfer on it; 0 if there may be several.
    var user: UInt64 = 0
  }

  /// - Returns: Nil if the system provides no descriptors for it.
  init?() {
    guard let bell = Bell() else { return nil }
    self.bell = bell
    rounds.initialize(to: 0)
    connections = Connections(rounds: rounds)
    poll = epoll_create1(Int32(EPOLL_CLOEXEC))
    guard poll >= 0 else { return nil }
    var event = epoll_event()
    event.events = Bell.interest
    event.data.fd = bell.descriptor
    guard epoll_ctl(poll, EPOLL_CTL_ADD, bell.descriptor, &event) == 0 else { return nil }
  }

  deinit {
    rounds.deallocate()
    if poll >= 0 { close(poll) }
  }

  /// Makes a multi handle report the events for which it waits; `self` must outlive it.
  func attach(_ multi: UnsafeMutableRawPointer) -> Bool {
    // Sound: libcurl calls back only within calls of its functions, and only this object's owner calls those.
    let me = Unmanaged.passUnretained(self).toOpaque()
    let code = redial_curl_multi_set_events(
      multi,
      { _, descriptor, what, me, _ in
        guard let me else { return -1 }
        return Unmanaged<SocketEvents>.fromOpaque(me).takeUnretainedValue().watch(descriptor, what) ? 0 : -1
      },
      { _, milliseconds, me in
        guard let me else { return -1 }
        let events = Unmanaged<SocketEvents>.fromOpaque(me).takeUnretainedValue()
        events.deadline =
          milliseconds < 0 ? .max : milliseconds == 0 ? 0 : SocketEvents.now + Int64(milliseconds) * 1_000_000
        return 0
      }, me)
    self.multi = multi
    return code == CURLM_OK
  }

  /// A socket was opened for a transfer; ``closed(_:)`` will report its closing.
  func opened(_ descriptor: Int32, for user: UInt64) {
    grow(to: descriptor)
    sockets[Int(descriptor)] = Socket(isOwn: true, user: user)
  }

  /// A transfer is about to send its request on a connection.
  func use(_ connection: Connection, for user: UInt64) {
    connection.use()
    guard let socket = connection.socket, socket < sockets.count else { return }
    sockets[Int(socket)].user = connection.hasSpokenHTTP1 || !connection.isShared ? user : 0
  }

  /// A socket is closed, which also removes it from the kernel's watch.
  private func closed(_ descriptor: Int32) {
    if descriptor < sockets.count { sockets[Int(descriptor)] = Socket() }
    connections.remove(descriptor)
    close(descriptor)
  }

  /// Makes the sockets of a handle close here.
  func closes(of handle: UnsafeMutableRawPointer) -> CURLcode {
    // Sound: a connection is closed only by calls of libcurl's functions, and only this object's owner calls those.
    redial_curl_set_closer(
      handle,
      { me, descriptor in
        guard let me else { return -1 }
        Unmanaged<SocketEvents>.fromOpaque(me).takeUnretainedValue().closed(descriptor)
        return 0
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  private func grow(to descriptor: Int32) {
    let missing = Int(descriptor) + 1 - sockets.count
    if missing > 0 { sockets += [Socket](repeating: Socket(), count: max(missing, 64)) }
  }

  private func watch(_ descriptor: Int32, _ what: Int32) -> Bool {
    grow(to: descriptor)
    let index = Int(descriptor)
    if what == CURL_POLL_REMOVE {
      sockets[index].wanted = 0
      // A connection that will soon be reused stays watched, which saves two system calls each time. A socket that was
      // opened elsewhere, for example on the resolver's thread, may be closed without notice.
      if !sockets[index].isOwn {
        _ = epoll_ctl(poll, EPOLL_CTL_DEL, descriptor, nil)
        sockets[index].watched = 0
      }
      return true
    }
    var event = epoll_event()
    if what & CURL_POLL_IN != 0 { event.events |= EPOLLIN.rawValue }
    if what & CURL_POLL_OUT != 0 { event.events |= EPOLLOUT.rawValue }
    event.data.fd = descriptor
    sockets[index].wanted = event.events
    // A socket that was opened elsewhere may be another one by now.
    guard !sockets[index].isOwn || sockets[index].watched != event.events else { return true }
    if sockets[index].watched == 0 || epoll_ctl(poll, EPOLL_CTL_MOD, descriptor, &event) != 0 {
      guard epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event) == 0 || errno == EEXIST else { return false }
    }
    sockets[index].watched = event.events
    return true
  }

  /// Whether libcurl waits for nothing on a connection, because no request is in flight on it.
  func isIdle(_ connection: Connection) -> Bool {
    guard let socket = connection.socket, socket < sockets.count else { return true }
    return sockets[Int(socket)].wanted == 0
  }

  private static var now: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  /// Makes libcurl do the work of its timer, such as starting a new transfer.
  func beginDue() {
    guard let multi, deadline != .max, deadline <= Self.now else { return }
    checkLateness()
    deadline = .max
    var running: Int32 = 0
    rounds.pointee += 1
    curl_multi_socket_action(multi, CURL_SOCKET_BAD, 0, &running)
    redial_take_in_hand(0)
  }

  /// Whether libcurl's timer was due long ago, since the process stood still, or something took long.
  private func checkLateness() {
    // Once for each delay.
    if deadline != .max, deadline != 0, tell(late: Self.now - deadline) { deadline = 0 }
  }

  @discardableResult
  private func tell(late: Int64) -> Bool {
    guard let wasLate, late > Self.lateness else { return false }
    wasLate(.nanoseconds(late))
    return true
  }

  /// Waits for events, at most that many milliseconds, and makes libcurl handle them.
  func runRound(atMost longest: Int32) {
    guard let multi else { return }
    var wait = longest
    if deadline != .max {
      let left = deadline == 0 ? 0 : (deadline - Self.now + 999_999) / 1_000_000
      wait = Int32(clamping: min(Int64(longest), max(0, left)))
    }
    let begun = Self.now
    let count = epoll_wait(poll, &events, Int32(events.count), wait)
    // Also if libcurl waits for nothing.
    if deadline == .max, wait >= 0 { tell(late: Self.now - begun - Int64(wait) * 1_000_000) }
    checkLateness()
    var running: Int32 = 0
    for index in 0..<max(0, Int(count)) {
      let (descriptor, found) = (events[index].data.fd, events[index].events)
      if descriptor == bell.descriptor { continue }
      guard descriptor < sockets.count, sockets[Int(descriptor)].wanted != 0 else {
        // An event of an idle connection, such as its end; libcurl examines it when it uses the connection again.
        _ = epoll_ctl(poll, EPOLL_CTL_DEL, descriptor, nil)
        if descriptor < sockets.count { sockets[Int(descriptor)].watched = 0 }
        continue
      }
      var what: Int32 = 0
      if found & EPOLLIN.rawValue != 0 { what |= CURL_CSELECT_IN }
      if found & EPOLLOUT.rawValue != 0 { what |= CURL_CSELECT_OUT }
      if found & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { what |= CURL_CSELECT_ERR }
      redial_take_in_hand(Int64(bitPattern: sockets[Int(descriptor)].user))
      rounds.pointee += 1
      curl_multi_socket_action(multi, descriptor, what, &running)
      redial_take_in_hand(0)
    }
    beginDue()
  }
}
