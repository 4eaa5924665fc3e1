internal import RedialCore
@testable internal import RedialEngine
internal import RedialModel

/// A job that the store still has when the connection on which it came is lost. The store may execute it all the same.
final class LateJob {
  let job: StorePipeline.Job
  let instance: Int
  let life: Int
  let connection: Int
  let server: Int
  /// The lane that sent it, as it was.
  var lane: SimulatedStoreLane
  /// Whether it has begun, and has its session locked.
  var hasBegun = false
  var endsAt = Timestamp.epoch

  init(_ job: StorePipeline.Job, of instance: Instance) {
    self.job = job
    self.instance = instance.number
    life = instance.life
    connection = instance.lane.connection
    server = instance.lane.server
    lane = instance.lane
  }
}

/// Lost connections to a shared store. The outcomes of the jobs in flight are then unknown to the instance: some were
/// made, some may still be made until the instance has shut the old connection out, some never are.
extension World {
  /// The connection of an instance is lost with its jobs in flight.
  func loseConnection(of instance: Instance) {
    let open = instance.lane.pipeline.open
    log(instance, "loses its connection with \(open.count) jobs")
    instance.lane.lose()
    let pause = lossRandom.duration(10...(lossRandom.chance(0.2) ? 15_000 : 800))
    var time = now
    // The store had executed some, and the answers were lost; it may execute more.
    var isLate = lossRandom.chance(0.5)
    for job in open where job.isChange && !job.isJoining {
      let late = LateJob(job, of: instance)
      if !isLate {
        execute(late)
        isLate = lossRandom.chance(0.5)
        continue
      }
      guard lossRandom.chance(0.7) else { break }
      // Often while the instance is about to ask for its outcome.
      let begin =
        lossRandom.chance(0.5)
        ? now + max(.zero, pause - lossRandom.duration(0...5)) : now + lossRandom.duration(0...20_000)
      time = max(time, begin)
      agenda.add(.lateBegins(late), at: time)
      time = time + lossRandom.duration(0.1...20)
      late.endsAt = time
      agenda.add(.lateEnds(late), at: time)
    }
    agenda.add(.reconnect(instance.number, life: instance.life), at: now + pause)
    serveStore(instance)
  }

  /// The store begins a job of a connection that is gone: only if no other connection of the session has begun.
  func lateBegins(_ late: LateJob) {
    guard late.server == store.server, let session = late.lane.session,
      store.sessions[session]?.connection == late.connection,
      late.lane.refusal(of: late.job, in: store) == nil
    else { return }
    late.hasBegun = true
    store.sessions[session]?.isLocked = true
  }

  func lateEnds(_ late: LateJob) {
    guard late.server == store.server, late.hasBegun, let session = late.lane.session else { return }
    store.sessions[session]?.isLocked = false
    execute(late)
  }

  private func execute(_ late: LateJob) {
    let before = store
    do {
      guard case .made(let answer) = try late.lane.perform(late.job, on: &store, at: now) else { return }
      log(instances[late.instance], "store commits \(late.job.requests.count), and the answer is lost")
      lastWritten = now
      invariants.committed(before, store, late.job.writes)
      tellOfDocuments(since: before)
      if instances[late.instance].life == late.life {
        instances[late.instance].lane.executed(late.job, answer)
      }
    } catch {
      invariants.require(false, error.message)
    }
  }

  /// The instance reaches the store again. First it shuts the old connection out, which waits for a commit that has
  /// begun; then it asks what was made. Asking in the same statement would show what there was before the wait.
  func reconnect(_ instance: Instance) {
    guard instance.lane.isLost else { return }
    if isServerDown {
      return agenda.add(
        .reconnect(instance.number, life: instance.life), at: serverUpAt + failoverRandom.duration(1...2000))
    }
    let seen = store.lastChange(of: instance.lane.session)
    guard let session = instance.lane.session, store.sessions[session]?.isLocked == true else {
      return resolve(instance, seen: seen)
    }
    agenda.add(.resolve(instance.number, life: instance.life, seen: seen), at: now + .milliseconds(1))
  }

  func resolve(_ instance: Instance, seen: Int64) {
    guard instance.lane.isLost else { return }
    if let session = instance.lane.session {
      // The commit that has begun is not over.
      if store.sessions[session]?.isLocked == true {
        return agenda.add(.resolve(instance.number, life: instance.life, seen: seen), at: now + .milliseconds(1))
      }
      store.sessions[session]?.connection += 1
    }
    let ledger = store.lastChange(of: instance.lane.session)
    log(instance, "has a connection again; its last change was \(ledger)")
    instance.lane.resolve(by: ledger, on: store)
    for job in instance.lane.pipeline.open { send(job, of: instance) }
    serveStore(instance)
  }
}
