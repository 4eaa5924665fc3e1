/// Which submissions are forwarded to the instance that has their target.
package struct ForwardingSettings: Sendable, Hashable {
  /// The largest body of a call that is forwarded, in bytes: its bytes are sent once more. Others are stored here, and
  /// their owner loads them.
  package var largestBody: Int
  /// How old a call may be that arrives from another instance. The other one waits no longer for the answer, and then
  /// stores the call itself.
  package var patience: Duration

  /// Creates settings; every argument left out has Redial's default.
  package init(largestBody: Int = 64 << 10, patience: Duration = .seconds(1)) {
    self.largestBody = largestBody
    self.patience = patience
  }
}
