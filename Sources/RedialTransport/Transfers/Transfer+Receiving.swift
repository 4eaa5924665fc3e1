internal import CCurl
internal import CLinux

/// While a request is in flight.
extension Transfer {
  /// Whether the request may be sent: only once. If a reused connection fails before the response, libcurl would send
  /// the request again on a new one, whatever its method; but only the policy may decide whether that is safe.
  func maySend(on ends: Connections.Ends) -> Bool {
    skipPruning()
    let isReused = dialling.allowed == 0
    guard let events else { return course.send(isReused: isReused) }
    // Also for a request that is not sent: another may be, on this connection.
    let connection =
      isReused
      ? events.connections[ends]
      : events.connections.add(ends, among: dialling.sockets, Lifetime(configuration), group: group)
    if !isReused {
      hasConnected(connection, isMultiplexed: dialling.isSecure && redial_curl_has_chosen(handle, "h2") != 0)
    }
    guard course.sends == 0 else {
      noteRepetition()
      return course.send(isReused: isReused)
    }
    guard !isReused || isFit(connection, events) else {
      options.forbidReuse()
      course.abandonConnection()
      return false
    }
    // Within TLS, its own messages are there.
    if !isReused, !dialling.isSecure, connection?.hasInput == true {
      exchange.isForeign = true
      return false
    }
    guard isReused || !dialling.isSecure || isTrusted(connection) else { return false }
    exchange.connection = connection
    if let connection {
      // Beside other requests, libcurl reads what arrives.
      if dialling.isSecure, !isReused || events.isIdle(connection) { exchange.before = connection.traffic }
      events.use(connection, for: id)
    }
    listen(to: connection)
    return course.send(isReused: isReused)
  }

  /// Whether the request may be sent on a new connection in TLS.
  private func isTrusted(_ connection: Connection?) -> Bool {
    // It chooses between the two, but not this one: it speaks HTTP/2 alone, and would read the request as that.
    if options.isPlain, redial_curl_has_chosen(handle, "http/1.1") == 0 {
      memory?.refusePlain(dialling.url, in: request.group)
      course.abandonConnection()
      return false
    }
    if LibCurl.needsFreshHandles, let connection { SessionWatch.begin(on: handle, connection.session) }
    exchange.isUnnamed = redial_curl_has_alternative_names(handle) == 0
    return !exchange.isUnnamed
  }

  /// Whether the request may be sent on a connection that has served before.
  private func isFit(_ connection: Connection?, _ events: SocketEvents) -> Bool {
    guard let connection, connection.group == group, !connection.isLeft else { return false }
    let isIdle = events.isIdle(connection)
    if connection.isAtEnd(at: .now) {
      // Others go on with it, so that libcurl would choose it again.
      if !isIdle { memory?.renew(dialling.url, in: request.group, from: group) }
      return false
    }
    // Of an origin that has once spoken HTTP/2, an older libcurl takes each connection for one that many may share.
    guard isIdle || connection.isMultiplexed else {
      memory?.renew(dialling.url, in: request.group, from: group)
      return false
    }
    guard connection.isQuiet(isIdle: isIdle) else { return false }
    return !(isIdle && dialling.isSecure && redial_curl_holds_input(handle) != 0)
  }

  /// Passes the next piece of the body to libcurl.
  func give(_ room: UnsafeMutablePointer<CChar>?, _ size: Int) -> Int {
    guard let room else { return 0 }
    if let feed = upload.feed { return give(room, size, from: feed) }
    return upload.give(room, size)
  }

  func receiveHead(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
    guard let bytes, count > 0 else { return count }
    redial_take_in_hand(Int64(bitPattern: id))
    let line = UnsafeRawBufferPointer(start: bytes, count: count)
    if received.headBytes == 0 {
      let isHTTP1 = StatusLine.isHTTP1(line)
      if isHTTP1 { exchange.connection?.hasSpokenHTTP1 = true }
      exchange.isForeign = wasThereBefore || isHTTP1 && hasOvertaken()
      guard !exchange.isForeign else {
        options.forbidReuse()
        return 0
      }
    }
    let wasInHead = !received.isHeadWhole
    let continues = received.takeHead(line, atMost: configuration.maxResponseHeaderBytes)
    if LibCurl.needsFreshHandles, received.framing.isHTTP1 { options.listen(received.isAtFirstField) }
    // A response before the end of its request: the target may read the rest of it as another one.
    if wasInHead, received.isHeadWhole, received.framing.isHTTP1,
      received.framing.isDoubtful || uploaded < exchange.contentSize
    {
      options.forbidReuse()
    }
    return continues ? count : 0
  }

  /// Makes a first field line that begins with a blank, which is to be ignored (RFC 9112 §2.2), a field without a name.
  ///
  /// At such a line, a version that needs fresh handles ends the transfer. Before it reads a line, it shows that to those
  /// who listen.
  func hearLine(_ line: UnsafeMutablePointer<CChar>) {
    guard received.isAtFirstField, FieldLine.isBlank(UInt8(bitPattern: line[0])) else { return }
    line[0] = CChar(bitPattern: UInt8(ascii: ":"))
  }

  /// Whether nothing has arrived since the request was sent, or nothing of it was acknowledged, as each answer to it does
  /// (RFC 9293 §3.10.7.4).
  private var wasThereBefore: Bool {
    guard let before = exchange.before, let now = exchange.connection?.traffic else { return false }
    return now.received == before.received || now.acknowledged == before.acknowledged
  }

  /// Whether the response has begun before any of the request can have arrived.
  ///
  /// A piecewise body within TLS is left out: there, the system's bytes are more than those that are counted.
  private func hasOvertaken() -> Bool {
    guard let connection = exchange.connection, !dialling.isSecure || !upload.isPiecewise else { return false }
    let head = redial_curl_get_long(handle, CURLINFO_REQUEST_SIZE)
    return connection.hasUnseen(upload.isPiecewise ? head + uploaded : head)
  }

  /// How many bytes of the body were sent.
  var uploaded: Int {
    exchange.contentSize == 0 ? 0 : Int(redial_curl_get_offset(handle, CURLINFO_SIZE_UPLOAD_T))
  }

  func receiveBody(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
    guard let bytes, count > 0 else { return count }
    redial_take_in_hand(Int64(bitPattern: id))
    let piece = UnsafeRawBufferPointer(start: bytes, count: count)
    let limits = Received.BodyLimits(kept: request.captureLimit, received: configuration.maxResponseBytes)
    return received.takeBody(piece, limits) ? count : 0
  }
}
