internal import CCurl
internal import Glibc

/// What happens within the TLS session of a connection, where an older libcurl says nothing of it.
struct SessionState {
  /// Whether the target has said that it sends no more (RFC 8446 §6.1). libcurl does not tell that from the end of the connection,
  /// which anyone between can make.
  fileprivate(set) var isEnded = false
  /// The socket that is closed if what arrives has no end.
  fileprivate let socket: Int32
  /// Counts what the thread of the transfers has begun.
  fileprivate let rounds: UnsafePointer<UInt64>
  /// What it was doing when it last began to read here.
  fileprivate var round: UInt64 = 0
  /// The records that it has read since.
  fileprivate var records = 0
  /// How much of the processor's time it had used at the first look at that, in nanoseconds.
  fileprivate var begun: Int64 = 0

  init(socket: Int32, rounds: UnsafePointer<UInt64>) { (self.socket, self.rounds) = (socket, rounds) }

  /// How long the thread reads one connection in a row, of the processor's time. An older libcurl reads as long as something
  /// arrives, and all other targets wait.
  private static let longestReading: Int64 = 250_000_000
  private static let recordsBetweenLooks = 16

  /// A record was read.
  fileprivate mutating func read() {
    if round != rounds.pointee { (round, records) = (rounds.pointee, 0) }
    records += 1
    // Few connections have so many: the time of the processor is a call of the system.
    guard records % Self.recordsBetweenLooks == 0 else { return }
    let now = Self.now
    if records == Self.recordsBetweenLooks { begun = now }
    guard now - begun > Self.longestReading else { return }
    shutdown(socket, Int32(SHUT_RDWR))
  }

  private static var now: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}

enum SessionWatch {
  /// Where sessions have their states.
  private static let place = redial_tls_new_place()

  /// SSL_CB_READ_ALERT, and the alert; and the type of what SSL_set_msg_callback reports of each record.
  private static let (readAlert, closeNotify, recordHeader): (Int32, Int32, Int32) = (0x4004, 0, 256)

  /// - Parameter state: It must be there for as long as the session of the handle's connection is.
  static func begin(on handle: UnsafeMutableRawPointer, _ state: UnsafeMutablePointer<SessionState>) {
    guard let session = redial_curl_tls(handle), SSL_set_ex_data(session, place, state) != 0 else { return }
    SSL_set_info_callback(session) { session, event, alert in
      guard event == SessionWatch.readAlert, alert & 0xFF == SessionWatch.closeNotify else { return }
      SessionWatch.state(of: session)?.pointee.isEnded = true
    }
    SSL_set_msg_callback(session) { isWritten, _, type, _, _, session, _ in
      guard isWritten == 0, type == SessionWatch.recordHeader else { return }
      SessionWatch.state(of: session)?.pointee.read()
    }
  }

  private static func state(of session: OpaquePointer) -> UnsafeMutablePointer<SessionState>? {
    SSL_get_ex_data(session, place)?.assumingMemoryBound(to: SessionState.self)
  }
}
