internal import CCurl

/// Options that are the same for every request.
extension Transfer {
  func setConstants() -> Bool {
    setHabits() && setCallbacks() && options.resetTLS(otherwise: configuration.tls) == CURLE_OK
  }

  private func setHabits() -> Bool {
    let idleTime = min(configuration.maxConnectionIdleTime, configuration.maxConnectionAge)
    let codes = [
      // Signals would reach any thread.
      redial_curl_set_long(handle, CURLOPT_NOSIGNAL, 1),
      // If libcurl looks up a name itself, on a thread of its own, the end of the attempt does not wait for it.
      redial_curl_set_long(handle, CURLOPT_QUICK_EXIT, 1),
      redial_curl_set_text(handle, CURLOPT_PROTOCOLS_STR, "http,https"),
      // Redirects are followed here, where each is checked.
      redial_curl_set_long(handle, CURLOPT_FOLLOWLOCATION, 0),
      // An empty name: the environment's proxies are not used.
      redial_curl_set_text(handle, CURLOPT_PROXY, configuration.proxy ?? ""),
      redial_curl_set_text(handle, CURLOPT_NOPROXY, ""),
      redial_curl_set_long(handle, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1),
      // HTTP/2 if a server chooses it within TLS, HTTP/1.1 otherwise.
      redial_curl_set_long(handle, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS)),
      redial_curl_set_long(handle, CURLOPT_HTTP09_ALLOWED, 0),
      redial_curl_set_long(handle, CURLOPT_PATH_AS_IS, 1),
      redial_curl_set_long(handle, CURLOPT_TCP_KEEPALIVE, 1),
      redial_curl_set_long(
        handle, CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS, Self.milliseconds(configuration.happyEyeballsDelay)),
      redial_curl_set_long(handle, CURLOPT_MAXAGE_CONN, Self.seconds(idleTime)),
    ]
    return codes.allSatisfy { $0 == CURLE_OK }
  }

  private func setCallbacks() -> Bool {
    // Sound: libcurl calls back only while a transfer runs, which the owner of the handle drives, and so retains
    // `self`.
    let me = Unmanaged.passUnretained(self).toOpaque()
    let codes = [
      redial_curl_set_pointer(handle, CURLOPT_ERRORBUFFER, message.buffer),
      redial_curl_set_sink(handle, CURLOPT_HEADERFUNCTION) { bytes, size, count, transfer in
        Transfer.with(transfer) { $0.receiveHead(bytes, size * count) } ?? 0
      },
      redial_curl_set_pointer(handle, CURLOPT_HEADERDATA, me),
      redial_curl_set_sink(handle, CURLOPT_WRITEFUNCTION) { bytes, size, count, transfer in
        Transfer.with(transfer) { $0.receiveBody(bytes, size * count) } ?? 0
      },
      redial_curl_set_pointer(handle, CURLOPT_WRITEDATA, me),
      redial_curl_set_sink(handle, CURLOPT_READFUNCTION) { room, size, count, transfer in
        Transfer.with(transfer) { $0.give(room, size * count) } ?? Int(CURL_READFUNC_ABORT)
      },
      redial_curl_set_pointer(handle, CURLOPT_READDATA, me),
      redial_curl_set_seeker(handle) { transfer, offset, origin in
        Transfer.with(transfer) { $0.seek(to: Int(offset), from: origin) } == true
          ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL
      },
      redial_curl_set_pointer(handle, CURLOPT_SEEKDATA, me),
      redial_curl_set_gate(handle) { transfer, remote, local, remotePort, localPort in
        guard let remote, let local else { return CURL_PREREQFUNC_ABORT }
        let ends = Connections.Ends(
          local: (UnsafePointer(local), localPort), remote: (UnsafePointer(remote), remotePort))
        return Transfer.with(transfer) { $0.maySend(on: ends) } == true ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
      },
      redial_curl_set_pointer(handle, CURLOPT_PREREQDATA, me),
      redial_curl_set_listener(handle) { _, kind, text, count, transfer in
        if kind == CURLINFO_TEXT, let text {
          Transfer.with(transfer) { $0.hear(UnsafeRawBufferPointer(start: text, count: count)) }
        }
        if LibCurl.needsFreshHandles, kind == CURLINFO_HEADER_OUT || kind == CURLINFO_DATA_OUT {
          Transfer.with(transfer) { $0.exchange.connection?.noteSent() }
        }
        if kind == CURLINFO_HEADER_IN, let text, count > 0 { Transfer.with(transfer) { $0.hearLine(text) } }
        return 0
      },
      redial_curl_set_pointer(handle, CURLOPT_DEBUGDATA, me),
      redial_curl_set_dialer(handle) { transfer, _, destination in
        guard let transfer = Transfer.take(transfer), let destination else { return CURL_SOCKET_BAD }
        transfer.skipPruning()
        guard transfer.mayConnect() else { return CURL_SOCKET_BAD }
        let socket = transfer.dialling.open(destination)
        if socket != CURL_SOCKET_BAD { transfer.events?.opened(socket, for: transfer.id) }
        return socket
      },
      redial_curl_set_pointer(handle, CURLOPT_OPENSOCKETDATA, me),
      redial_curl_set_pointer(handle, CURLOPT_PRIVATE, me),
    ]
    if events != nil {
      let code = redial_curl_set_resolver(
        handle, { _, _, transfer in Transfer.with(transfer) { $0.mayResolve() } == false ? 1 : 0 }, me)
      guard code == CURLE_OK else { return false }
    }
    // Connections outlive their transfers, and the transfers' loop closes the last before its events are freed.
    if let events, events.closes(of: handle) != CURLE_OK { return false }
    return codes.allSatisfy { $0 == CURLE_OK }
  }
}
