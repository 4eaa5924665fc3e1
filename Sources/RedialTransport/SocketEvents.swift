internal import CCurl
internal import CLinux
internal import Glibc
internal import RedialCore

/// Waits for what libcurl's transfers wait for, by epoll: what a turn costs follows from what happens in it, not from
/// how many transfers wait.
///
/// Not `Sendable`: it belongs to the thread that drives the transfers, but for ``wake()``.
final class SocketEvents {
  private let poll: Int32
  private let bell: Int32
  private var events = [epoll_event](repeating: epoll_event(), count: 256)
  private var multi: UnsafeMutableRawPointer?
  /// When libcurl wants to be called whatever happens; nil for never.
  private var deadline: ContinuousClock.Instant?

  /// - Returns: Nil when the system gives no descriptors for it.
  init?() {
    poll = epoll_create1(Int32(EPOLL_CLOEXEC))
    bell = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
    guard poll >= 0, bell >= 0 else { return nil }
    watch(bell, CURL_POLL_IN, isKnown: false)
  }

  deinit {
    if poll >= 0 { close(poll) }
    if bell >= 0 { close(bell) }
  }

  /// Has a multi handle say what it waits for; `self` must outlive it.
  func attach(_ multi: UnsafeMutableRawPointer) -> Bool {
    // Sound: libcurl calls back within calls of its functions only, all of which this object's owner makes.
    let me = Unmanaged.passUnretained(self).toOpaque()
    let code = redial_curl_multi_set_events(
      multi,
      { _, descriptor, what, me, known in
        guard let me else { return -1 }
        let events = Unmanaged<SocketEvents>.fromOpaque(me).takeUnretainedValue()
        return events.watch(descriptor, what, isKnown: known != nil) ? 0 : -1
      },
      { _, milliseconds, me in
        guard let me else { return -1 }
        let events = Unmanaged<SocketEvents>.fromOpaque(me).takeUnretainedValue()
        events.deadline = milliseconds < 0 ? nil : ContinuousClock.now + .milliseconds(milliseconds)
        return 0
      }, me)
    self.multi = multi
    return code == CURLM_OK
  }

  @discardableResult
  private func watch(_ descriptor: Int32, _ what: Int32, isKnown: Bool) -> Bool {
    if what == CURL_POLL_REMOVE {
      // It may be closed already, which took it out.
      _ = epoll_ctl(poll, EPOLL_CTL_DEL, descriptor, nil)
      return true
    }
    var event = epoll_event()
    if what & CURL_POLL_IN != 0 { event.events |= EPOLLIN.rawValue }
    if what & CURL_POLL_OUT != 0 { event.events |= EPOLLOUT.rawValue }
    event.data.fd = descriptor
    if isKnown, epoll_ctl(poll, EPOLL_CTL_MOD, descriptor, &event) == 0 { return true }
    guard epoll_ctl(poll, EPOLL_CTL_ADD, descriptor, &event) == 0 || errno == EEXIST else { return false }
    // What libcurl hands back with the next word about this socket.
    if let multi { curl_multi_assign(multi, descriptor, multi) }
    return true
  }

  /// Ends a wait, from any thread.
  func wake() {
    var one: UInt64 = 1
    _ = write(bell, &one, 8)
  }

  /// Waits for something to happen, at most so long, and has libcurl do what it can.
  func turn(atMost longest: Int32) {
    guard let multi else { return }
    var wait = longest
    if let deadline {
      let left = (deadline - ContinuousClock.now).wholeMicroseconds
      wait = Int32(clamping: min(Int64(longest), max(0, (left + 999) / 1000)))
    }
    let count = epoll_wait(poll, &events, Int32(events.count), wait)
    var running: Int32 = 0
    for index in 0..<max(0, Int(count)) {
      let (descriptor, found) = (events[index].data.fd, events[index].events)
      if descriptor == bell {
        var rung: UInt64 = 0
        _ = read(bell, &rung, 8)
        continue
      }
      var what: Int32 = 0
      if found & EPOLLIN.rawValue != 0 { what |= CURL_CSELECT_IN }
      if found & EPOLLOUT.rawValue != 0 { what |= CURL_CSELECT_OUT }
      if found & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { what |= CURL_CSELECT_ERR }
      curl_multi_socket_action(multi, descriptor, what, &running)
    }
    if let deadline, deadline <= ContinuousClock.now {
      self.deadline = nil
      curl_multi_socket_action(multi, CURL_SOCKET_BAD, 0, &running)
    }
  }
}
