// Made by Scripts/generate from api/openapi.yaml.

public import Foundation

extension RedialAPI {
  /// `Instance` of the contract.
  public struct Instance: Sendable, Hashable, Codable {
    /// Its number among the instances.
    public var number: Int
    /// Where the other instances reach it; null if they cannot, and on SQLite.
    public var url: String?
    /// Its version.
    public var version: String
    /// The number of its shards.
    public var shards: Int
    /// Whether it is the one that answers.
    public var isSelf: Bool
    /// Whether it makes the changes of policies, API keys, webhook endpoints and bulk operations.
    public var leads: Bool

    private enum CodingKeys: String, CodingKey { case number, url, version, shards, isSelf = "self", leads }

    /// Reads it from the service's JSON.
    public init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: CodingKeys.self)
      number = try members.decode(Int.self, forKey: .number)
      url = try members.decodeIfPresent(String.self, forKey: .url)
      version = try members.decode(String.self, forKey: .version)
      shards = try members.decode(Int.self, forKey: .shards)
      isSelf = try members.decode(Bool.self, forKey: .isSelf)
      leads = try members.decode(Bool.self, forKey: .leads)
    }

    /// Writes it as the service does.
    public func encode(to encoder: any Encoder) throws {
      var members = encoder.container(keyedBy: CodingKeys.self)
      try members.encode(number, forKey: .number)
      try members.encode(url, forKey: .url)
      try members.encode(version, forKey: .version)
      try members.encode(shards, forKey: .shards)
      try members.encode(isSelf, forKey: .isSelf)
      try members.encode(leads, forKey: .leads)
    }
  }
}

extension RedialAPI {
  /// How many redirects an attempt follows.
  public struct Redirects: Sendable, Hashable, Encodable {
    /// Maximum number of redirects; the one after them is the attempt's response.
    public var max: Int?

    /// Creates one; what is left out is not sent.
    public init(max: Int? = nil) {
      self.max = max
    }
  }
}

extension RedialAPI {
  /// How to retry. Members that are left out have their defaults.
  public struct Policy: Sendable, Hashable, Codable {
    /// Maximum number of attempts, including the first; null for as many as the deadline allows.
    public var maxAttempts: Int?
    /// How long the call may take from its start. An attempt in flight is cut off then.
    public var deadline: Duration?
    /// What happens to a retry that would be too late for the deadline: `endEarly` ends the call now; `pullForward`
    /// makes the attempt at the last possible moment, unless the target asked for the wait.
    public var lastAttempt: LastAttempt?
    /// How much time an attempt must have before the deadline; up to an hour.
    public var minAttemptTime: Duration?
    /// How long one attempt may take; up to an hour.
    public var attemptTimeout: Duration?
    /// The wait between attempts: before retry i (counted from 0), `initial` times `multiplier` to the power of i,
    /// spread by the jitter. No wait is longer than `max`, and waits stay spread there.
    public var backoff: Backoff?
    /// What to retry. By default every network failure, 408, 425, 429 and every 5xx except 501, 505 and 511 (600 to
    /// 999 count as 5xx); 409, 413 and 423 with `Retry-After`; and 409 while the target may still be processing an
    /// earlier attempt. With `"idempotent": false`: failures before the request was sent, and 408, 425, 429.
    /// Members that are left out keep their defaults.
    public var retryOn: RetryOn?
    /// Statuses that end the call, even if `retryOn` has them.
    public var stopOn: StopOn?
    /// Whether to wait for the `Retry-After` of a response that is retried. It counts for the `statuses`, for the
    /// statuses in `retryOn.statusesWithRetryAfter`, and for a response with `Redial-Retry: retry`. With 429 and
    /// 503, `RateLimit` fields that report an exhausted quota count as one. The wait is the longer of the backoff
    /// and what the target asks for.
    public var retryAfter: RetryAfter?
    /// When the target's breaker opens: wait until it closes, or fail as `tripped`.
    public var onTrip: OnTrip?

    /// Creates one; what is left out is not sent.
    public init(
      maxAttempts: Int? = nil, deadline: Duration? = nil, lastAttempt: LastAttempt? = nil,
      minAttemptTime: Duration? = nil, attemptTimeout: Duration? = nil, backoff: Backoff? = nil,
      retryOn: RetryOn? = nil, stopOn: StopOn? = nil, retryAfter: RetryAfter? = nil, onTrip: OnTrip? = nil
    ) {
      self.maxAttempts = maxAttempts
      self.deadline = deadline
      self.lastAttempt = lastAttempt
      self.minAttemptTime = minAttemptTime
      self.attemptTimeout = attemptTimeout
      self.backoff = backoff
      self.retryOn = retryOn
      self.stopOn = stopOn
      self.retryAfter = retryAfter
      self.onTrip = onTrip
    }

    private enum CodingKeys: String, CodingKey {
      case maxAttempts, deadline, lastAttempt, minAttemptTime, attemptTimeout, backoff, retryOn, stopOn, retryAfter,
        onTrip
    }

    /// Reads it from the service's JSON.
    public init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: CodingKeys.self)
      maxAttempts = try members.decodeIfPresent(Int.self, forKey: .maxAttempts)
      deadline = try members.decodeIfPresent(WireSpan.self, forKey: .deadline).map { $0.duration }
      lastAttempt = try members.decodeIfPresent(LastAttempt.self, forKey: .lastAttempt)
      minAttemptTime = try members.decodeIfPresent(WireSpan.self, forKey: .minAttemptTime).map { $0.duration }
      attemptTimeout = try members.decodeIfPresent(WireSpan.self, forKey: .attemptTimeout).map { $0.duration }
      backoff = try members.decodeIfPresent(Backoff.self, forKey: .backoff)
      retryOn = try members.decodeIfPresent(RetryOn.self, forKey: .retryOn)
      stopOn = try members.decodeIfPresent(StopOn.self, forKey: .stopOn)
      retryAfter = try members.decodeIfPresent(RetryAfter.self, forKey: .retryAfter)
      onTrip = try members.decodeIfPresent(OnTrip.self, forKey: .onTrip)
    }

    /// Writes it as the service does.
    public func encode(to encoder: any Encoder) throws {
      var members = encoder.container(keyedBy: CodingKeys.self)
      try members.encodeIfPresent(maxAttempts, forKey: .maxAttempts)
      try members.encodeIfPresent(deadline.map { WireSpan($0) }, forKey: .deadline)
      try members.encodeIfPresent(lastAttempt, forKey: .lastAttempt)
      try members.encodeIfPresent(minAttemptTime.map { WireSpan($0) }, forKey: .minAttemptTime)
      try members.encodeIfPresent(attemptTimeout.map { WireSpan($0) }, forKey: .attemptTimeout)
      try members.encodeIfPresent(backoff, forKey: .backoff)
      try members.encodeIfPresent(retryOn, forKey: .retryOn)
      try members.encodeIfPresent(stopOn, forKey: .stopOn)
      try members.encodeIfPresent(retryAfter, forKey: .retryAfter)
      try members.encodeIfPresent(onTrip, forKey: .onTrip)
    }

    /// What happens to a retry that would be too late for the deadline: `endEarly` ends the call now; `pullForward`
    /// makes the attempt at the last possible moment, unless the target asked for the wait.
    public struct LastAttempt: RedialWord {
      /// The word.
      public let rawValue: String
      /// A value with that word.
      public init(rawValue: String) { self.rawValue = rawValue }

      /// `endEarly`.
      public static let endEarly = LastAttempt(rawValue: "endEarly")
      /// `pullForward`.
      public static let pullForward = LastAttempt(rawValue: "pullForward")
    }

    /// The wait between attempts: before retry i (counted from 0), `initial` times `multiplier` to the power of i,
    /// spread by the jitter. No wait is longer than `max`, and waits stay spread there.
    public struct Backoff: Sendable, Hashable, Codable {
      /// How the base grows with the retries i, counted from 0. `exponential` b·m^i, `constant` b, `linear` b +
      /// i·increment, `polynomial` offset + b·(i + 1)^exponent, `fibonacci` b·F(i + 1), `power` b^(i + 1) in seconds,
      /// `doublingsThenLinear` b·2^i for the given doublings and then the same increase each time, `schedule` a list,
      /// `decorrelated` uniform between b and three times the wait before, `decorrelatedSmooth` growth by 2 from a
      /// median of b, spread without peaks. b is `initial`. The default is `schedule` if a schedule is given.
      public var strategy: Strategy?
      /// b, the first wait.
      public var initial: Duration?
      /// The longest wait; no limit for a schedule unless given. No wait is shorter than 10 ms from the 101st retry
      /// on, nor than 1 ms if `maxAttempts` sets no limit, whatever the backoff is.
      public var max: Duration?
      /// With `exponential`: m, by which each wait is longer than the one before.
      public var multiplier: Double?
      /// With `linear`; by default equal to `initial`.
      public var increment: Duration?
      /// With `polynomial`: the exponent.
      public var exponent: Double?
      /// With `polynomial`: the part of each wait that does not grow.
      public var offset: Duration?
      /// With `polynomial`: the number of the first retry in the formula.
      public var first: Int?
      /// With `doublingsThenLinear`: how often the wait doubles.
      public var doublings: Int?
      /// With `schedule`: the waits, in order.
      public var schedule: [Duration]?
      /// What follows the last wait of a schedule.
      public var then: Then?
      /// With d the computed wait and r uniform in [0, 1): `none` d, `full` r·d, `equal` d/2 + r·d/2, `proportional`
      /// d·(1 − f + 2·f·r) with the `factor` f, `additive` d + r·spread, `additivePerRetry` d + r·spread·(i + 1).
      public var jitter: Jitter?
      /// With `proportional` jitter: f, the largest share by which a wait is shorter or longer.
      public var factor: Double?
      /// With `additive` and `additivePerRetry` jitter: the longest addition.
      public var spread: Duration?
      /// How `max` limits the jittered wait. `keepingSpread`: the base is limited so that the longest jittered wait
      /// is `max`. `afterJitter`: the jittered wait is limited. `beforeJitter`: the base is limited, and jitter may
      /// exceed it.
      public var cap: Cap?

      /// Creates one; what is left out is not sent.
      public init(
        strategy: Strategy? = nil, initial: Duration? = nil, max: Duration? = nil, multiplier: Double? = nil,
        increment: Duration? = nil, exponent: Double? = nil, offset: Duration? = nil, first: Int? = nil,
        doublings: Int? = nil, schedule: [Duration]? = nil, then: Then? = nil, jitter: Jitter? = nil,
        factor: Double? = nil, spread: Duration? = nil, cap: Cap? = nil
      ) {
        self.strategy = strategy
        self.initial = initial
        self.max = max
        self.multiplier = multiplier
        self.increment = increment
        self.exponent = exponent
        self.offset = offset
        self.first = first
        self.doublings = doublings
        self.schedule = schedule
        self.then = then
        self.jitter = jitter
        self.factor = factor
        self.spread = spread
        self.cap = cap
      }

      private enum CodingKeys: String, CodingKey {
        case strategy, initial, max, multiplier, increment, exponent, offset, first, doublings, schedule, then, jitter,
          factor, spread, cap
      }

      /// Reads it from the service's JSON.
      public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        strategy = try members.decodeIfPresent(Strategy.self, forKey: .strategy)
        initial = try members.decodeIfPresent(WireSpan.self, forKey: .initial).map { $0.duration }
        max = try members.decodeIfPresent(WireSpan.self, forKey: .max).map { $0.duration }
        multiplier = try members.decodeIfPresent(Double.self, forKey: .multiplier)
        increment = try members.decodeIfPresent(WireSpan.self, forKey: .increment).map { $0.duration }
        exponent = try members.decodeIfPresent(Double.self, forKey: .exponent)
        offset = try members.decodeIfPresent(WireSpan.self, forKey: .offset).map { $0.duration }
        first = try members.decodeIfPresent(Int.self, forKey: .first)
        doublings = try members.decodeIfPresent(Int.self, forKey: .doublings)
        schedule = try members.decodeIfPresent([WireSpan].self, forKey: .schedule).map { $0.map { $0.duration } }
        then = try members.decodeIfPresent(Then.self, forKey: .then)
        jitter = try members.decodeIfPresent(Jitter.self, forKey: .jitter)
        factor = try members.decodeIfPresent(Double.self, forKey: .factor)
        spread = try members.decodeIfPresent(WireSpan.self, forKey: .spread).map { $0.duration }
        cap = try members.decodeIfPresent(Cap.self, forKey: .cap)
      }

      /// Writes it as the service does.
      public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encodeIfPresent(strategy, forKey: .strategy)
        try members.encodeIfPresent(initial.map { WireSpan($0) }, forKey: .initial)
        try members.encodeIfPresent(max.map { WireSpan($0) }, forKey: .max)
        try members.encodeIfPresent(multiplier, forKey: .multiplier)
        try members.encodeIfPresent(increment.map { WireSpan($0) }, forKey: .increment)
        try members.encodeIfPresent(exponent, forKey: .exponent)
        try members.encodeIfPresent(offset.map { WireSpan($0) }, forKey: .offset)
        try members.encodeIfPresent(first, forKey: .first)
        try members.encodeIfPresent(doublings, forKey: .doublings)
        try members.encodeIfPresent(schedule.map { $0.map { WireSpan($0) } }, forKey: .schedule)
        try members.encodeIfPresent(then, forKey: .then)
        try members.encodeIfPresent(jitter, forKey: .jitter)
        try members.encodeIfPresent(factor, forKey: .factor)
        try members.encodeIfPresent(spread.map { WireSpan($0) }, forKey: .spread)
        try members.encodeIfPresent(cap, forKey: .cap)
      }

      /// How the base grows with the retries i, counted from 0. `exponential` b·m^i, `constant` b, `linear` b +
      /// i·increment, `polynomial` offset + b·(i + 1)^exponent, `fibonacci` b·F(i + 1), `power` b^(i + 1) in seconds,
      /// `doublingsThenLinear` b·2^i for the given doublings and then the same increase each time, `schedule` a list,
      /// `decorrelated` uniform between b and three times the wait before, `decorrelatedSmooth` growth by 2 from a
      /// median of b, spread without peaks. b is `initial`. The default is `schedule` if a schedule is given.
      public struct Strategy: RedialWord {
        /// The word.
        public let rawValue: String
        /// A value with that word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// `exponential`.
        public static let exponential = Strategy(rawValue: "exponential")
        /// `constant`.
        public static let constant = Strategy(rawValue: "constant")
        /// `linear`.
        public static let linear = Strategy(rawValue: "linear")
        /// `polynomial`.
        public static let polynomial = Strategy(rawValue: "polynomial")
        /// `fibonacci`.
        public static let fibonacci = Strategy(rawValue: "fibonacci")
        /// `power`.
        public static let power = Strategy(rawValue: "power")
        /// `doublingsThenLinear`.
        public static let doublingsThenLinear = Strategy(rawValue: "doublingsThenLinear")
        /// `schedule`.
        public static let schedule = Strategy(rawValue: "schedule")
        /// `decorrelated`.
        public static let decorrelated = Strategy(rawValue: "decorrelated")
        /// `decorrelatedSmooth`.
        public static let decorrelatedSmooth = Strategy(rawValue: "decorrelatedSmooth")
      }

      /// What follows the last wait of a schedule.
      public struct Then: RedialWord {
        /// The word.
        public let rawValue: String
        /// A value with that word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// `repeatLast`.
        public static let repeatLast = Then(rawValue: "repeatLast")
        /// `stop`.
        public static let stop = Then(rawValue: "stop")
      }

      /// With d the computed wait and r uniform in [0, 1): `none` d, `full` r·d, `equal` d/2 + r·d/2, `proportional`
      /// d·(1 − f + 2·f·r) with the `factor` f, `additive` d + r·spread, `additivePerRetry` d + r·spread·(i + 1).
      public struct Jitter: RedialWord {
        /// The word.
        public let rawValue: String
        /// A value with that word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// `none`.
        public static let none = Jitter(rawValue: "none")
        /// `full`.
        public static let full = Jitter(rawValue: "full")
        /// `equal`.
        public static let equal = Jitter(rawValue: "equal")
        /// `proportional`.
        public static let proportional = Jitter(rawValue: "proportional")
        /// `additive`.
        public static let additive = Jitter(rawValue: "additive")
        /// `additivePerRetry`.
        public static let additivePerRetry = Jitter(rawValue: "additivePerRetry")
      }

      /// How `max` limits the jittered wait. `keepingSpread`: the base is limited so that the longest jittered wait
      /// is `max`. `afterJitter`: the jittered wait is limited. `beforeJitter`: the base is limited, and jitter may
      /// exceed it.
      public struct Cap: RedialWord {
        /// The word.
        public let rawValue: String
        /// A value with that word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// `keepingSpread`.
        public static let keepingSpread = Cap(rawValue: "keepingSpread")
        /// `afterJitter`.
        public static let afterJitter = Cap(rawValue: "afterJitter")
        /// `beforeJitter`.
        public static let beforeJitter = Cap(rawValue: "beforeJitter")
      }
    }

    /// What to retry. By default every network failure, 408, 425, 429 and every 5xx except 501, 505 and 511 (600 to
    /// 999 count as 5xx); 409, 413 and 423 with `Retry-After`; and 409 while the target may still be processing an
    /// earlier attempt. With `"idempotent": false`: failures before the request was sent, and 408, 425, 429.
    /// Members that are left out keep their defaults.
    public struct RetryOn: Sendable, Hashable, Codable {
      /// Network failures: `true` or `always`, `false` or `never`, or `notSent` for those where the request certainly
      /// was not sent.
      public var network: RedialJSON?
      /// Statuses and ranges of them.
      public var statuses: [RedialJSON]?
      /// Statuses to retry only if the response has `Retry-After`.
      public var statusesWithRetryAfter: [RedialJSON]?

      /// Creates one; what is left out is not sent.
      public init(
        network: RedialJSON? = nil, statuses: [RedialJSON]? = nil, statusesWithRetryAfter: [RedialJSON]? = nil
      ) {
        self.network = network
        self.statuses = statuses
        self.statusesWithRetryAfter = statusesWithRetryAfter
      }
    }

    /// Statuses that end the call, even if `retryOn` has them.
    public struct StopOn: Sendable, Hashable, Codable {
      /// Statuses and ranges of them.
      public var statuses: [RedialJSON]?

      /// Creates one; what is left out is not sent.
      public init(statuses: [RedialJSON]? = nil) {
        self.statuses = statuses
      }
    }

    /// Whether to wait for the `Retry-After` of a response that is retried. It counts for the `statuses`, for the
    /// statuses in `retryOn.statusesWithRetryAfter`, and for a response with `Redial-Retry: retry`. With 429 and
    /// 503, `RateLimit` fields that report an exhausted quota count as one. The wait is the longer of the backoff
    /// and what the target asks for.
    public struct RetryAfter: Sendable, Hashable, Codable {
      /// Whether the target's wish counts.
      public var mode: Mode?
      /// The longest wait that the target may ask for.
      public var max: Duration?
      /// What happens if the target asks for more than `max`: `stop` ends the call, because an earlier attempt would
      /// ignore the target's wish; `park` waits that long, up to the deadline; `clamp` waits only `max`.
      public var beyond: Beyond?
      /// The wait that the target asks for is longer by up to this share of it, at random, so that calls that got the
      /// same answer do not return together.
      public var spread: Double?
      /// The statuses whose `Retry-After` counts.
      public var statuses: [RedialJSON]?

      /// Creates one; what is left out is not sent.
      public init(
        mode: Mode? = nil, max: Duration? = nil, beyond: Beyond? = nil, spread: Double? = nil,
        statuses: [RedialJSON]? = nil
      ) {
        self.mode = mode
        self.max = max
        self.beyond = beyond
        self.spread = spread
        self.statuses = statuses
      }

      private enum CodingKeys: String, CodingKey { case mode, max, beyond, spread, statuses }

      /// Reads it from the service's JSON.
      public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        mode = try members.decodeIfPresent(Mode.self, forKey: .mode)
        max = try members.decodeIfPresent(WireSpan.self, forKey: .max).map { $0.duration }
        beyond = try members.decodeIfPresent(Beyond.self, forKey: .beyond)
        spread = try members.decodeIfPresent(Double.self, forKey: .spread)
        statuses = try members.decodeIfPresent([RedialJSON].self, forKey: .statuses)
      }

      /// Writes it as the service does.
      public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encodeIfPresent(mode, forKey: .mode)
        try members.encodeIfPresent(max.map { WireSpan($0) }, forKey: .max)
        try members.encodeIfPresent(beyond, forKey: .beyond)
        try members.encodeIfPresent(spread, forKey: .spread)
        try members.encodeIfPresent(statuses, forKey: .statuses)
      }

      /// Whether the target's wish counts.
      public struct Mode: RedialWord {
        /// The word.
        public let rawValue: String
        /// A value with that word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// `respect`.
        public static let respect = Mode(rawValue: "respect")
        /// `ignore`.
        public static let ignore = Mode(rawValue: "ignore")
      }

      /// What happens if the target asks for more than `max`: `stop` ends the call, because an earlier attempt would
      /// ignore the target's wish; `park` waits that long, up to the deadline; `clamp` waits only `max`.
      public struct Beyond: RedialWord {
        /// The word.
        public let rawValue: String
        /// A value with that word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// `stop`.
        public static let stop = Beyond(rawValue: "stop")
        /// `park`.
        public static let park = Beyond(rawValue: "park")
        /// `clamp`.
        public static let clamp = Beyond(rawValue: "clamp")
      }
    }

    /// When the target's breaker opens: wait until it closes, or fail as `tripped`.
    public struct OnTrip: RedialWord {
      /// The word.
      public let rawValue: String
      /// A value with that word.
      public init(rawValue: String) { self.rawValue = rawValue }

      /// `wait`.
      public static let wait = OnTrip(rawValue: "wait")
      /// `fail`.
      public static let fail = OnTrip(rawValue: "fail")
    }
  }
}

extension RedialAPI {
  /// `PolicyWarning` of the contract.
  public struct PolicyWarning: Sendable, Hashable, Codable {
    /// A stable word for programs.
    public var code: String
    /// A sentence for people.
    public var detail: String
  }
}

extension RedialAPI {
  /// `StoredPolicySummary` of the contract.
  public struct StoredPolicySummary: Sendable, Hashable, Codable {
    /// Letters, digits, `.`, `_` and `-`; `preview` and `default` are taken.
    public var name: String
    /// `version`.
    public var version: Int
    /// `createdAt`.
    public var createdAt: Date

    private enum CodingKeys: String, CodingKey { case name, version, createdAt }

    /// Reads it from the service's JSON.
    public init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: CodingKeys.self)
      name = try members.decode(String.self, forKey: .name)
      version = try members.decode(Int.self, forKey: .version)
      createdAt = try members.decode(WireInstant.self, forKey: .createdAt).date
    }

    /// Writes it as the service does.
    public func encode(to encoder: any Encoder) throws {
      var members = encoder.container(keyedBy: CodingKeys.self)
      try members.encode(name, forKey: .name)
      try members.encode(version, forKey: .version)
      try members.encode(WireInstant(createdAt), forKey: .createdAt)
    }
  }
}

extension RedialAPI {
  /// `StoredPolicy` of the contract.
  public struct StoredPolicy: Sendable, Hashable, Codable {
    /// Letters, digits, `.`, `_` and `-`; `preview` and `default` are taken.
    public var name: String
    /// `version`.
    public var version: Int
    /// `createdAt`.
    public var createdAt: Date
    /// The policy as its author gave it.
    public var policy: RedialAPI.Policy
    /// Warnings about the policy, for requests that may be repeated.
    public var warnings: [PolicyWarning]
    /// The versions that are kept, newest last.
    public var versions: [Version]

    private enum CodingKeys: String, CodingKey { case name, version, createdAt, policy, warnings, versions }

    /// Reads it from the service's JSON.
    public init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: CodingKeys.self)
      name = try members.decode(String.self, forKey: .name)
      version = try members.decode(Int.self, forKey: .version)
      createdAt = try members.decode(WireInstant.self, forKey: .createdAt).date
      policy = try members.decode(RedialAPI.Policy.self, forKey: .policy)
      warnings = try members.decode([PolicyWarning].self, forKey: .warnings)
      versions = try members.decode([Version].self, forKey: .versions)
    }

    /// Writes it as the service does.
    public func encode(to encoder: any Encoder) throws {
      var members = encoder.container(keyedBy: CodingKeys.self)
      try members.encode(name, forKey: .name)
      try members.encode(version, forKey: .version)
      try members.encode(WireInstant(createdAt), forKey: .createdAt)
      try members.encode(policy, forKey: .policy)
      try members.encode(warnings, forKey: .warnings)
      try members.encode(versions, forKey: .versions)
    }

    /// `Version` of the contract.
    public struct Version: Sendable, Hashable, Codable {
      /// `version`.
      public var version: Int
      /// `createdAt`.
      public var createdAt: Date

      private enum CodingKeys: String, CodingKey { case version, createdAt }

      /// Reads it from the service's JSON.
      public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        version = try members.decode(Int.self, forKey: .version)
        createdAt = try members.decode(WireInstant.self, forKey: .createdAt).date
      }

      /// Writes it as the service does.
      public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(version, forKey: .version)
        try members.encode(WireInstant(createdAt), forKey: .createdAt)
      }
    }
  }
}

extension RedialAPI {
  /// Members of a descriptor; each replaces the original's. `null` removes the original's, so that the default
  /// applies.
  public struct ReplayChanges: Sendable, Hashable, Encodable {
    /// An absolute `http` or `https` URL, without user information. The egress policy must allow it. Loopback
    /// addresses are allowed only under `egress=private` while Redial itself listens on loopback or a Unix domain
    /// socket, or if `egressAllow` names them.
    public var url: String?
    /// Whether nobody may see its payloads: the header fields and the body of its request, the query of its URL,
    /// and the answers of its target. They are in no answer of the API, whatever the key, and in no event, webhook,
    /// span or log. They are erased when it ends, so that it cannot be run again or replayed afterwards. Its
    /// answers are not stored at all: also who waits for its end sees only the status.
    public var sensitive: RedialNullable<Bool>
    /// JSON Pointers (RFC 6901) to members of JSON bodies that nobody sees, such as `/card/number`; `*` in place of
    /// an index stands for each element of an array. In what is shown of the request and of answers, also in
    /// webhooks, their values are `[redacted]`; what is stored and sent stays as it is. A body that is not whole,
    /// or not JSON, is withheld.
    public var redact: RedialNullable<[String]>
    /// Any method except `CONNECT`. By default `GET`, or `POST` for a call with a body. `HEAD` and `TRACE` have no
    /// body. Methods are case-sensitive: `patch` is sent as it is, with a warning.
    public var method: RedialNullable<String>
    /// Header fields, with a list for repeated ones; up to 100 fields and 16 KiB. Fields of the connection or of
    /// the framing (`Connection`, `Content-Length`, `Expect`, `Keep-Alive`, `Proxy-Authorization`,
    /// `Proxy-Connection`, `TE`, `Trailer`, `Transfer-Encoding`, `Upgrade`) are refused; so are `Redial-Call-Id`
    /// and `Redial-Attempt`, which Redial sets itself. `Host` and `Content-Type` have one value.
    public var headers: RedialNullable<[String: RedialJSON]>
    /// The request body, as text that is sent in UTF-8.
    public var body: RedialNullable<String>
    /// The request body, as JSON.
    public var json: RedialJSON?
    /// The request body, in base 64 with padding (RFC 4648).
    public var bodyBase64: RedialNullable<String>
    /// How to retry: an object, or the name of a stored policy, in its current version (`patient`) or in exactly
    /// one (`patient@3`).
    public var policy: RedialNullable<CallPolicy>
    /// How long after its acceptance the call starts; up to 366 days.
    public var delay: RedialNullable<Duration>
    /// When the call starts; at once if that time has passed. At most 366 days from now.
    public var startAt: RedialNullable<Date>
    /// Calls of one target share a breaker, limits and ordering. By default it is the URL's origin. The setting
    /// `targetNaming` says who may name another: by default keys with the scope `operate`, and everybody while
    /// there are no keys. Names that begin with `webhook:` are reserved; `.` and `..` can be in no path, and are
    /// refused, also percent-encoded. It must be in the Unicode normalization form NFC.
    public var target: RedialNullable<String>
    /// Whether the request may be repeated once it may have been executed. By default it may, whatever its method,
    /// because each attempt carries the same `Idempotency-Key`. `false` is for a target that must not get it twice:
    /// then only failures before the request was sent, and 408, 425 and 429, are retried. If Redial crashes during
    /// an attempt, the attempt is repeated in any case.
    public var idempotent: RedialNullable<Bool>
    /// What a submission does under the `Idempotency-Key` of this call once it has failed or was cancelled. `rerun`
    /// runs the call again, with all attempts of its policy: exactly once for each time that it has ended, whoever
    /// submits at the same time. A call with `"idempotent": false` runs again only if no attempt may have been
    /// executed: each was refused with a status of 4xx other than 409, or was never sent. One that ended as
    /// `attemptEndedTheService` never does. `answer` only answers with the call as it is. If it is left out, the
    /// setting `onRepeat` decides.
    public var onRepeat: RedialNullable<OnRepeat>
    /// The name of a stored credential that proves to the target who sends the call (`PUT /v1/credentials/{name}`).
    public var credential: RedialNullable<String>
    /// How each attempt is signed when it is made, so that a retry on the second day has a fresh signature: the
    /// name of a credential, or an object whose secrets belong to this call alone. They are not shown.
    public var sign: RedialNullable<RedialJSON>
    /// What the call is for, in a line for people. It is shown with the call, and nothing depends on it.
    public var description: RedialNullable<String>
    /// Names and values that are shown with the call, and by which it can be found. Names must be in the Unicode
    /// normalization form NFC.
    public var labels: RedialNullable<[String: String]>
    /// Where to send the webhook when the call ends.
    public var callback: RedialNullable<Callback>
    /// Whether an attempt follows redirects: 301, 302, 303, 307 and 308. All of them share the attempt's timeout;
    /// method and body follow RFC 9110. When the origin changes, credentials are not sent on: `Authorization`,
    /// `Cookie`, fields with a word for a credential in their name, such as `X-Api-Key`, `X-Auth` or `X-Session-Id`
    /// (but not `Idempotency-Key`), and the fields in `capture.redactHeaders` and in the setting `redactHeaders`.
    /// The egress policy is checked for each. Without this member, a redirect is the response.
    public var redirects: RedialNullable<RedialAPI.Redirects>
    /// Calls of one target with the same ordering key run one at a time, in the order in which they were accepted.
    /// The next one starts when the one before has ended, also if that one failed. It must be in the Unicode
    /// normalization form NFC.
    public var orderingKey: RedialNullable<String>
    /// Of the due calls of a target, the highest priority starts first. Every tenth to start is the one that has
    /// been due longest.
    public var priority: RedialNullable<Int>
    /// How much of responses is kept.
    public var capture: RedialNullable<Capture>

    /// Creates one; what is left out is not sent.
    public init(
      url: String? = nil, sensitive: RedialNullable<Bool> = .absent, redact: RedialNullable<[String]> = .absent,
      method: RedialNullable<String> = .absent, headers: RedialNullable<[String: RedialJSON]> = .absent,
      body: RedialNullable<String> = .absent, json: RedialJSON? = nil, bodyBase64: RedialNullable<String> = .absent,
      policy: RedialNullable<CallPolicy> = .absent, delay: RedialNullable<Duration> = .absent,
      startAt: RedialNullable<Date> = .absent, target: RedialNullable<String> = .absent,
      idempotent: RedialNullable<Bool> = .absent, onRepeat: RedialNullable<OnRepeat> = .absent,
      credential: RedialNullable<String> = .absent, sign: RedialNullable<RedialJSON> = .absent,
      description: RedialNullable<String> = .absent, labels: RedialNullable<[String: String]> = .absent,
      callback: RedialNullable<Callback> = .absent, redirects: RedialNullable<RedialAPI.Redirects> = .absent,
      orderingKey: RedialNullable<String> = .absent, priority: RedialNullable<Int> = .absent,
      capture: RedialNullable<Capture> = .absent
    ) {
      self.url = url
      self.sensitive = sensitive
      self.redact = redact
      self.method = method
      self.headers = headers
      self.body = body
      self.json = json
      self.bodyBase64 = bodyBase64
      self.policy = policy
      self.delay = delay
      self.startAt = startAt
      self.target = target
      self.idempotent = idempotent
      self.onRepeat = onRepeat
      self.credential = credential
      self.sign = sign
      self.description = description
      self.labels = labels
      self.callback = callback
      self.redirects = redirects
      self.orderingKey = orderingKey
      self.priority = priority
      self.capture = capture
    }

    private enum CodingKeys: String, CodingKey {
      case url, sensitive, redact, method, headers, body, json, bodyBase64, policy, delay, startAt, target, idempotent,
        onRepeat, credential, sign, description, labels, callback, redirects, orderingKey, priority, capture
    }

    /// Writes it as the service does.
    public func encode(to encoder: any Encoder) throws {
      var members = encoder.container(keyedBy: CodingKeys.self)
      try members.encodeIfPresent(url, forKey: .url)
      try members.encodeNullable(sensitive, forKey: .sensitive)
      try members.encodeNullable(redact, forKey: .redact)
      try members.encodeNullable(method, forKey: .method)
      try members.encodeNullable(headers, forKey: .headers)
      try members.encodeNullable(body, forKey: .body)
      try members.encodeIfPresent(json, forKey: .json)
      try members.encodeNullable(bodyBase64, forKey: .bodyBase64)
      try members.encodeNullable(policy, forKey: .policy)
      try members.encodeNullable(delay.map { WireSpan($0) }, forKey: .delay)
      try members.encodeNullable(startAt.map { WireInstant($0) }, forKey: .startAt)
      try members.encodeNullable(target, forKey: .target)
      try members.encodeNullable(idempotent, forKey: .idempotent)
      try members.encodeNullable(onRepeat, forKey: .onRepeat)
      try members.encodeNullable(credential, forKey: .credential)
      try members.encodeNullable(sign, forKey: .sign)
      try members.encodeNullable(description, forKey: .description)
      try members.encodeNullable(labels, forKey: .labels)
      try members.encodeNullable(callback, forKey: .callback)
      try members.encodeNullable(redirects, forKey: .redirects)
      try members.encodeNullable(orderingKey, forKey: .orderingKey)
      try members.encodeNullable(priority, forKey: .priority)
      try members.encodeNullable(capture, forKey: .capture)
    }

    /// What a submission does under the `Idempotency-Key` of this call once it has failed or was cancelled. `rerun`
    /// runs the call again, with all attempts of its policy: exactly once for each time that it has ended, whoever
    /// submits at the same time. A call with `"idempotent": false` runs again only if no attempt may have been
    /// executed: each was refused with a status of 4xx other than 409, or was never sent. One that ended as
    /// `attemptEndedTheService` never does. `answer` only answers with the call as it is. If it is left out, the
    /// setting `onRepeat` decides.
    public struct OnRepeat: RedialWord {
      /// The word.
      public let rawValue: String
      /// A value with that word.
      public init(rawValue: String) { self.rawValue = rawValue }

      /// `rerun`.
      public static let rerun = OnRepeat(rawValue: "rerun")
      /// `answer`.
      public static let answer = OnRepeat(rawValue: "answer")
    }

    /// Where to send the webhook when the call ends.
    public struct Callback: Sendable, Hashable, Encodable {
      /// Where it is sent; it must be allowed by the egress policy.
      public var url: String
      /// The events that cause a webhook; all by default.
      public var events: [RedialAPI.CallEvent]?

      /// Creates one; what is left out is not sent.
      public init(url: String, events: [RedialAPI.CallEvent]? = nil) {
        self.url = url
        self.events = events
      }
    }

    /// How much of responses is kept.
    public struct Capture: Sendable, Hashable, Encodable {
      /// How much of each response's body is kept, in bytes.
      public var maxBytes: Int?
      /// Response header fields whose values are not kept, in addition to the setting `redactHeaders`: `REDACTED`
      /// replaces them. Fields about retries still take effect.
      public var redactHeaders: [String]?

      /// Creates one; what is left out is not sent.
      public init(maxBytes: Int? = nil, redactHeaders: [String]? = nil) {
        self.maxBytes = maxBytes
        self.redactHeaders = redactHeaders
      }
    }
  }
}

extension RedialAPI {
  /// What a call would do.
  public struct DryRun: Sendable, Hashable, Codable {
    /// When it would start if it were submitted now.
    public var startsAt: Date
    /// The descriptor with all defaults, without its body and its start.
    public var call: RedialJSON
    /// The verdict of the egress policy on the URL; no name is looked up. A descriptor whose URL is refused is
    /// answered with 422, as without `dryRun`.
    public var egress: Egress
    /// When a policy makes its attempts.
    public var plan: RedialAPI.Plan
    /// Warnings about the call.
    public var warnings: [PolicyWarning]

    private enum CodingKeys: String, CodingKey { case startsAt, call, egress, plan, warnings }

    /// Reads it from the service's JSON.
    public init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: CodingKeys.self)
      startsAt = try members.decode(WireInstant.self, forKey: .startsAt).date
      call = try members.decode(RedialJSON.self, forKey: .call)
      egress = try members.decode(Egress.self, forKey: .egress)
      plan = try members.decode(RedialAPI.Plan.self, forKey: .plan)
      warnings = try members.decode([PolicyWarning].self, forKey: .warnings)
    }

    /// Writes it as the service does.
    public func encode(to encoder: any Encoder) throws {
      var members = encoder.container(keyedBy: CodingKeys.self)
      try members.encode(WireInstant(startsAt), forKey: .startsAt)
      try members.encode(call, forKey: .call)
      try members.encode(egress, forKey: .egress)
      try members.encode(plan, forKey: .plan)
      try members.encode(warnings, forKey: .warnings)
    }

    /// The verdict of the egress policy on the URL; no name is looked up. A descriptor whose URL is refused is
    /// answered with 422, as without `dryRun`.
    public struct Egress: Sendable, Hashable, Codable {
      /// `verdict`.
      public var verdict: Verdict
      /// The rule that refuses it, if one does.
      public var rule: String?
      /// `detail`.
      public var detail: String

      private enum CodingKeys: String, CodingKey { case verdict, rule, detail }

      /// Reads it from the service's JSON.
      public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        verdict = try members.decode(Verdict.self, forKey: .verdict)
        rule = try members.decodeIfPresent(String.self, forKey: .rule)
        detail = try members.decode(String.self, forKey: .detail)
      }

      /// Writes it as the service does.
      public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(verdict, forKey: .verdict)
        try members.encode(rule, forKey: .rule)
        try members.encode(detail, forKey: .detail)
      }

      /// A word of `verdict`.
      public struct Verdict: RedialWord {
        /// The word.
        public let rawValue: String
        /// A value with that word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// `allowed`.
        public static let allowed = Verdict(rawValue: "allowed")
        /// `decidedWhenDialled`.
        public static let decidedWhenDialled = Verdict(rawValue: "decidedWhenDialled")
        /// `refused`.
        public static let refused = Verdict(rawValue: "refused")
      }
    }
  }
}

extension RedialAPI {
  /// When a policy makes its attempts.
  public struct Plan: Sendable, Hashable, Codable {
    /// `default`, or the stored policy with its version; null for a policy that was given as an object.
    public var policyName: String?
    /// Left out in a dry run of a call, which has it in `call`.
    public var policy: RedialAPI.Policy?
    /// The attempts, up to the first that would be after the deadline.
    public var attempts: [Attempt]
    /// Whether there are no attempts after those listed.
    public var isComplete: Bool
    /// The latest time at which the call can still run; null if there is none.
    public var latestEnd: Duration?
    /// `chanceOfAllAttempts`.
    public var chanceOfAllAttempts: Double
    /// `warnings`.
    public var warnings: [PolicyWarning]

    private enum CodingKeys: String, CodingKey {
      case policyName, policy, attempts, isComplete, latestEnd, chanceOfAllAttempts, warnings
    }

    /// Reads it from the service's JSON.
    public init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: CodingKeys.self)
      policyName = try members.decodeIfPresent(String.self, forKey: .policyName)
      policy = try members.decodeIfPresent(RedialAPI.Policy.self, forKey: .policy)
      attempts = try members.decode([Attempt].self, forKey: .attempts)
      isComplete = try members.decode(Bool.self, forKey: .isComplete)
      latestEnd = try members.decodeIfPresent(WireSpan.self, forKey: .latestEnd).map { $0.duration }
      chanceOfAllAttempts = try members.decode(Double.self, forKey: .chanceOfAllAttempts)
      warnings = try members.decode([PolicyWarning].self, forKey: .warnings)
    }

    /// Writes it as the service does.
    public func encode(to encoder: any Encoder) throws {
      var members = encoder.container(keyedBy: CodingKeys.self)
      try members.encode(policyName, forKey: .policyName)
      try members.encodeIfPresent(policy, forKey: .policy)
      try members.encode(attempts, forKey: .attempts)
      try members.encode(isComplete, forKey: .isComplete)
      try members.encode(latestEnd.map { WireSpan($0) }, forKey: .latestEnd)
      try members.encode(chanceOfAllAttempts, forKey: .chanceOfAllAttempts)
      try members.encode(warnings, forKey: .warnings)
    }

    /// `Attempt` of the contract.
    public struct Attempt: Sendable, Hashable, Codable {
      /// `number`.
      public var number: Int
      /// The shortest and longest wait before it; null if only samples are known.
      public var wait: Wait?
      /// When it starts, counted from the start of the call.
      public var startsAfter: StartsAfter
      /// The probability that it starts before the deadline.
      public var chance: Double

      private enum CodingKeys: String, CodingKey { case number, wait, startsAfter, chance }

      /// Reads it from the service's JSON.
      public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        number = try members.decode(Int.self, forKey: .number)
        wait = try members.decodeIfPresent(Wait.self, forKey: .wait)
        startsAfter = try members.decode(StartsAfter.self, forKey: .startsAfter)
        chance = try members.decode(Double.self, forKey: .chance)
      }

      /// Writes it as the service does.
      public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(number, forKey: .number)
        try members.encode(wait, forKey: .wait)
        try members.encode(startsAfter, forKey: .startsAfter)
        try members.encode(chance, forKey: .chance)
      }

      /// The shortest and longest wait before it; null if only samples are known.
      public struct Wait: Sendable, Hashable, Codable {
        /// A number and a unit (`us`, `ms`, `s`, `m`, `h`, `d`, `w`), several of them from large to small (`1h30m`), or
        /// ISO 8601 (`PT5M`).
        public var shortest: Duration
        /// A number and a unit (`us`, `ms`, `s`, `m`, `h`, `d`, `w`), several of them from large to small (`1h30m`), or
        /// ISO 8601 (`PT5M`).
        public var longest: Duration

        private enum CodingKeys: String, CodingKey { case shortest, longest }

        /// Reads it from the service's JSON.
        public init(from decoder: any Decoder) throws {
          let members = try decoder.container(keyedBy: CodingKeys.self)
          shortest = try members.decode(WireSpan.self, forKey: .shortest).duration
          longest = try members.decode(WireSpan.self, forKey: .longest).duration
        }

        /// Writes it as the service does.
        public func encode(to encoder: any Encoder) throws {
          var members = encoder.container(keyedBy: CodingKeys.self)
          try members.encode(WireSpan(shortest), forKey: .shortest)
          try members.encode(WireSpan(longest), forKey: .longest)
        }
      }

      /// When it starts, counted from the start of the call.
      public struct StartsAfter: Sendable, Hashable, Codable {
        /// A number and a unit (`us`, `ms`, `s`, `m`, `h`, `d`, `w`), several of them from large to small (`1h30m`), or
        /// ISO 8601 (`PT5M`).
        public var earliest: Duration
        /// A number and a unit (`us`, `ms`, `s`, `m`, `h`, `d`, `w`), several of them from large to small (`1h30m`), or
        /// ISO 8601 (`PT5M`).
        public var p10: Duration
        /// A number and a unit (`us`, `ms`, `s`, `m`, `h`, `d`, `w`), several of them from large to small (`1h30m`), or
        /// ISO 8601 (`PT5M`).
        public var p50: Duration
        /// A number and a unit (`us`, `ms`, `s`, `m`, `h`, `d`, `w`), several of them from large to small (`1h30m`), or
        /// ISO 8601 (`PT5M`).
        public var p90: Duration
        /// A number and a unit (`us`, `ms`, `s`, `m`, `h`, `d`, `w`), several of them from large to small (`1h30m`), or
        /// ISO 8601 (`PT5M`).
        public var p99: Duration
        /// A number and a unit (`us`, `ms`, `s`, `m`, `h`, `d`, `w`), several of them from large to small (`1h30m`), or
        /// ISO 8601 (`PT5M`).
        public var latest: Duration
        /// Whether these come from a formula; otherwise from samples.
        public var isExact: Bool

        private enum CodingKeys: String, CodingKey { case earliest, p10, p50, p90, p99, latest, isExact }

        /// Reads it from the service's JSON.
        public init(from decoder: any Decoder) throws {
          let members = try decoder.container(keyedBy: CodingKeys.self)
          earliest = try members.decode(WireSpan.self, forKey: .earliest).duration
          p10 = try members.decode(WireSpan.self, forKey: .p10).duration
          p50 = try members.decode(WireSpan.self, forKey: .p50).duration
          p90 = try members.decode(WireSpan.self, forKey: .p90).duration
          p99 = try members.decode(WireSpan.self, forKey: .p99).duration
          latest = try members.decode(WireSpan.self, forKey: .latest).duration
          isExact = try members.decode(Bool.self, forKey: .isExact)
        }

        /// Writes it as the service does.
        public func encode(to encoder: any Encoder) throws {
          var members = encoder.container(keyedBy: CodingKeys.self)
          try members.encode(WireSpan(earliest), forKey: .earliest)
          try members.encode(WireSpan(p10), forKey: .p10)
          try members.encode(WireSpan(p50), forKey: .p50)
          try members.encode(WireSpan(p90), forKey: .p90)
          try members.encode(WireSpan(p99), forKey: .p99)
          try members.encode(WireSpan(latest), forKey: .latest)
          try members.encode(isExact, forKey: .isExact)
        }
      }
    }
  }
}

extension RedialAPI {
  /// The request of a call, as the client gave it; shown with `include=request`. Values of secret header fields
  /// and URL parameters are `REDACTED`. If the content was erased, or is withheld, there are no header fields and
  /// no body.
  public struct Request: Sendable, Hashable, Codable {
    /// `method`.
    public var method: String
    /// `url`.
    public var url: String
    /// `headers`.
    public var headers: [String: [String]]
    /// The names of the fields that have bytes which are not UTF-8. Their values are shown in ISO-8859-1, a
    /// character for each byte, and sent as they came. Left out if there are none.
    public var latin1: [String]?
    /// The body, or its first mebibyte; null if it was erased or is withheld.
    public var body: String?
    /// Whether `body` is text or base 64; null without one.
    public var encoding: Encoding?
    /// The size of the whole body, in bytes; null if it was erased or is withheld.
    public var size: Int?
    /// Whether the body is longer than shown.
    public var truncated: Bool
    /// When the content was erased; null if it was not.
    public var erasedAt: Date?
    /// Why the request is not shown: `sensitive` for a sensitive call, and `redact` for a body that is not whole,
    /// or not JSON, so that nobody can tell where the members are that `redact` names. Null if it is shown.
    public var withheld: Withheld?

    private enum CodingKeys: String, CodingKey {
      case method, url, headers, latin1, body, encoding, size, truncated, erasedAt, withheld
    }

    /// Reads it from the service's JSON.
    public init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: CodingKeys.self)
      method = try members.decode(String.self, forKey: .method)
      url = try members.decode(String.self, forKey: .url)
      headers = try members.decode([String: [String]].self, forKey: .headers)
      latin1 = try members.decodeIfPresent([String].self, forKey: .latin1)
      body = try members.decodeIfPresent(String.self, forKey: .body)
      encoding = try members.decodeIfPresent(Encoding.self, forKey: .encoding)
      size = try members.decodeIfPresent(Int.self, forKey: .size)
      truncated = try members.decode(Bool.self, forKey: .truncated)
      erasedAt = try members.decodeIfPresent(WireInstant.self, forKey: .erasedAt).map { $0.date }
      withheld = try members.decodeIfPresent(Withheld.self, forKey: .withheld)
    }

    /// Writes it as the service does.
    public func encode(to encoder: any Encoder) throws {
      var members = encoder.container(keyedBy: CodingKeys.self)
      try members.encode(method, forKey: .method)
      try members.encode(url, forKey: .url)
      try members.encode(headers, forKey: .headers)
      try members.encodeIfPresent(latin1, forKey: .latin1)
      try members.encode(body, forKey: .body)
      try members.encode(encoding, forKey: .encoding)
      try members.encode(size, forKey: .size)
      try members.encode(truncated, forKey: .truncated)
      try members.encode(erasedAt.map { WireInstant($0) }, forKey: .erasedAt)
      try members.encode(withheld, forKey: .withheld)
    }

    /// Whether `body` is text or base 64; null without one.
    public struct Encoding: RedialWord {
      /// The word.
      public let rawValue: String
      /// A value with that word.
      public init(rawValue: String) { self.rawValue = rawValue }

      /// `utf8`.
      public static let utf8 = Encoding(rawValue: "utf8")
      /// `base64`.
      public static let base64 = Encoding(rawValue: "base64")
    }

    /// Why the request is not shown: `sensitive` for a sensitive call, and `redact` for a body that is not whole,
    /// or not JSON, so that nobody can tell where the members are that `redact` names. Null if it is shown.
    public struct Withheld: RedialWord {
      /// The word.
      public let rawValue: String
      /// A value with that word.
      public init(rawValue: String) { self.rawValue = rawValue }

      /// `sensitive`.
      public static let sensitive = Withheld(rawValue: "sensitive")
      /// `redact`.
      public static let redact = Withheld(rawValue: "redact")
    }
  }
}

extension RedialAPI {
  /// `StatisticsWindow` of the contract.
  public struct StatisticsWindow: Sendable, Hashable, Codable {
    /// `window`.
    public var window: Window
    /// When the first step begins.
    public var from: Date
    /// The length of a step.
    public var step: Duration
    /// How many calls were due and waited for their target, on average over the time.
    public var backlog: Double
    /// Calls that ended.
    public var calls: RedialAPI.EndedCalls
    /// Attempts after which the call succeeded, and others.
    public var attempts: RedialAPI.EndedAttempts
    /// The latency that 50, 95 and 99 % of the attempts did not exceed; null if there are none.
    public var latency: RedialAPI.AttemptLatency?
    /// `steps`.
    public var steps: [Step]

    private enum CodingKeys: String, CodingKey { case window, from, step, backlog, calls, attempts, latency, steps }

    /// Reads it from the service's JSON.
    public init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: CodingKeys.self)
      window = try members.decode(Window.self, forKey: .window)
      from = try members.decode(WireInstant.self, forKey: .from).date
      step = try members.decode(WireSpan.self, forKey: .step).duration
      backlog = try members.decode(Double.self, forKey: .backlog)
      calls = try members.decode(RedialAPI.EndedCalls.self, forKey: .calls)
      attempts = try members.decode(RedialAPI.EndedAttempts.self, forKey: .attempts)
      latency = try members.decodeIfPresent(RedialAPI.AttemptLatency.self, forKey: .latency)
      steps = try members.decode([Step].self, forKey: .steps)
    }

    /// Writes it as the service does.
    public func encode(to encoder: any Encoder) throws {
      var members = encoder.container(keyedBy: CodingKeys.self)
      try members.encode(window, forKey: .window)
      try members.encode(WireInstant(from), forKey: .from)
      try members.encode(WireSpan(step), forKey: .step)
      try members.encode(backlog, forKey: .backlog)
      try members.encode(calls, forKey: .calls)
      try members.encode(attempts, forKey: .attempts)
      try members.encode(latency, forKey: .latency)
      try members.encode(steps, forKey: .steps)
    }

    /// A word of `window`.
    public struct Window: RedialWord {
      /// The word.
      public let rawValue: String
      /// A value with that word.
      public init(rawValue: String) { self.rawValue = rawValue }

      /// `15m`.
      public static let window15m = Window(rawValue: "15m")
      /// `24h`.
      public static let window24h = Window(rawValue: "24h")
      /// `7d`.
      public static let window7d = Window(rawValue: "7d")
    }

    /// `Step` of the contract.
    public struct Step: Sendable, Hashable, Codable {
      /// `from`.
      public var from: Date
      /// How many calls were due and waited for their target, on average over the time.
      public var backlog: Double
      /// Calls that ended.
      public var calls: RedialAPI.EndedCalls
      /// Attempts after which the call succeeded, and others.
      public var attempts: RedialAPI.EndedAttempts
      /// The latency that 50, 95 and 99 % of the attempts did not exceed; null if there are none.
      public var latency: RedialAPI.AttemptLatency?

      private enum CodingKeys: String, CodingKey { case from, backlog, calls, attempts, latency }

      /// Reads it from the service's JSON.
      public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        from = try members.decode(WireInstant.self, forKey: .from).date
        backlog = try members.decode(Double.self, forKey: .backlog)
        calls = try members.decode(RedialAPI.EndedCalls.self, forKey: .calls)
        attempts = try members.decode(RedialAPI.EndedAttempts.self, forKey: .attempts)
        latency = try members.decodeIfPresent(RedialAPI.AttemptLatency.self, forKey: .latency)
      }

      /// Writes it as the service does.
      public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(WireInstant(from), forKey: .from)
        try members.encode(backlog, forKey: .backlog)
        try members.encode(calls, forKey: .calls)
        try members.encode(attempts, forKey: .attempts)
        try members.encode(latency, forKey: .latency)
      }
    }
  }
}

extension RedialAPI {
  /// Calls that ended.
  public struct EndedCalls: Sendable, Hashable, Codable {
    /// `succeeded`.
    public var succeeded: Int
    /// Those of `succeeded` that needed more than one attempt.
    public var retried: Int
    /// `failed`.
    public var failed: Int
    /// `cancelled`.
    public var cancelled: Int
    /// The share that succeeded of those that were not cancelled; null if there are none.
    public var successRate: Double?
    /// How long the calls took that succeeded, since they were due for their first attempts: the time that 50, 95
    /// and 99 % of them did not exceed, within a fifth; null if there are none.
    public var timeToSuccess: RedialAPI.TimeToSuccess?

    private enum CodingKeys: String, CodingKey {
      case succeeded, retried, failed, cancelled, successRate, timeToSuccess
    }

    /// Reads it from the service's JSON.
    public init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: CodingKeys.self)
      succeeded = try members.decode(Int.self, forKey: .succeeded)
      retried = try members.decode(Int.self, forKey: .retried)
      failed = try members.decode(Int.self, forKey: .failed)
      cancelled = try members.decode(Int.self, forKey: .cancelled)
      successRate = try members.decodeIfPresent(Double.self, forKey: .successRate)
      timeToSuccess = try members.decodeIfPresent(RedialAPI.TimeToSuccess.self, forKey: .timeToSuccess)
    }

    /// Writes it as the service does.
    public func encode(to encoder: any Encoder) throws {
      var members = encoder.container(keyedBy: CodingKeys.self)
      try members.encode(succeeded, forKey: .succeeded)
      try members.encode(retried, forKey: .retried)
      try members.encode(failed, forKey: .failed)
      try members.encode(cancelled, forKey: .cancelled)
      try members.encode(successRate, forKey: .successRate)
      try members.encode(timeToSuccess, forKey: .timeToSuccess)
    }
  }
}

extension RedialAPI {
  /// How long the calls took that succeeded, since they were due for their first attempts: the time that 50, 95
  /// and 99 % of them did not exceed, within a fifth; null if there are none.
  public struct TimeToSuccess: Sendable, Hashable, Codable {
    /// A number and a unit (`us`, `ms`, `s`, `m`, `h`, `d`, `w`), several of them from large to small (`1h30m`), or
    /// ISO 8601 (`PT5M`).
    public var p50: Duration
    /// A number and a unit (`us`, `ms`, `s`, `m`, `h`, `d`, `w`), several of them from large to small (`1h30m`), or
    /// ISO 8601 (`PT5M`).
    public var p95: Duration
    /// A number and a unit (`us`, `ms`, `s`, `m`, `h`, `d`, `w`), several of them from large to small (`1h30m`), or
    /// ISO 8601 (`PT5M`).
    public var p99: Duration

    private enum CodingKeys: String, CodingKey { case p50, p95, p99 }

    /// Reads it from the service's JSON.
    public init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: CodingKeys.self)
      p50 = try members.decode(WireSpan.self, forKey: .p50).duration
      p95 = try members.decode(WireSpan.self, forKey: .p95).duration
      p99 = try members.decode(WireSpan.self, forKey: .p99).duration
    }

    /// Writes it as the service does.
    public func encode(to encoder: any Encoder) throws {
      var members = encoder.container(keyedBy: CodingKeys.self)
      try members.encode(WireSpan(p50), forKey: .p50)
      try members.encode(WireSpan(p95), forKey: .p95)
      try members.encode(WireSpan(p99), forKey: .p99)
    }
  }
}

extension RedialAPI {
  /// Attempts after which the call succeeded, and others.
  public struct EndedAttempts: Sendable, Hashable, Codable {
    /// `succeeded`.
    public var succeeded: Int
    /// `failed`.
    public var failed: Int
  }
}

extension RedialAPI {
  /// The latency that 50, 95 and 99 % of the attempts did not exceed; null if there are none.
  public struct AttemptLatency: Sendable, Hashable, Codable {
    /// A number and a unit (`us`, `ms`, `s`, `m`, `h`, `d`, `w`), several of them from large to small (`1h30m`), or
    /// ISO 8601 (`PT5M`).
    public var p50: Duration
    /// A number and a unit (`us`, `ms`, `s`, `m`, `h`, `d`, `w`), several of them from large to small (`1h30m`), or
    /// ISO 8601 (`PT5M`).
    public var p95: Duration
    /// A number and a unit (`us`, `ms`, `s`, `m`, `h`, `d`, `w`), several of them from large to small (`1h30m`), or
    /// ISO 8601 (`PT5M`).
    public var p99: Duration

    private enum CodingKeys: String, CodingKey { case p50, p95, p99 }

    /// Reads it from the service's JSON.
    public init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: CodingKeys.self)
      p50 = try members.decode(WireSpan.self, forKey: .p50).duration
      p95 = try members.decode(WireSpan.self, forKey: .p95).duration
      p99 = try members.decode(WireSpan.self, forKey: .p99).duration
    }

    /// Writes it as the service does.
    public func encode(to encoder: any Encoder) throws {
      var members = encoder.container(keyedBy: CodingKeys.self)
      try members.encode(WireSpan(p50), forKey: .p50)
      try members.encode(WireSpan(p95), forKey: .p95)
      try members.encode(WireSpan(p99), forKey: .p99)
    }
  }
}

extension RedialAPI {
  /// `retry`: retry calls that have ended. `cancel`: cancel calls that have not. `release`: run waiting calls
  /// now. `purge`: remove calls that have ended. `replay`: submit a new call like each that has ended.
  public struct BulkAction: RedialWord {
    /// The word.
    public let rawValue: String
    /// A value with that word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// `retry`.
    public static let retry = BulkAction(rawValue: "retry")
    /// `cancel`.
    public static let cancel = BulkAction(rawValue: "cancel")
    /// `release`.
    public static let release = BulkAction(rawValue: "release")
    /// `purge`.
    public static let purge = BulkAction(rawValue: "purge")
    /// `replay`.
    public static let replay = BulkAction(rawValue: "replay")
  }
}

extension RedialAPI {
  /// An action on all calls that a filter selects.
  public struct BulkRequest: Sendable, Hashable, Encodable {
    /// `retry`: retry calls that have ended.
    public var action: RedialAPI.BulkAction
    /// The calls to act on: those for which all conditions hold, as for a list.
    public var filter: CallFilter?
    /// Maximum calls per second; 100 by default.
    public var ratePerSecond: Int?
    /// Who.
    public var by: String?
    /// Why.
    public var reason: String?
    /// Act on all calls that the action applies to, if `filter` is left out or has no condition except `kind`.
    /// Without it such a request is refused, a dry run too.
    public var all: Bool?

    /// Creates one; what is left out is not sent.
    public init(
      action: RedialAPI.BulkAction, filter: CallFilter? = nil, ratePerSecond: Int? = nil, by: String? = nil,
      reason: String? = nil, all: Bool? = nil
    ) {
      self.action = action
      self.filter = filter
      self.ratePerSecond = ratePerSecond
      self.by = by
      self.reason = reason
      self.all = all
    }
  }
}

extension RedialAPI {
  /// `BulkOperation` of the contract.
  public struct BulkOperation: Sendable, Hashable, Codable, Identifiable {
    /// The id of a bulk operation.
    public var id: String
    /// `retry`: retry calls that have ended.
    public var action: RedialAPI.BulkAction
    /// The calls to act on: those for which all conditions hold, as for a list.
    public var filter: CallFilter
    /// `ratePerSecond`.
    public var ratePerSecond: Int
    /// `by`.
    public var by: String?
    /// `reason`.
    public var reason: String?
    /// `counting`: it counts the matching calls. `running`: it acts on them. The others are ends.
    public var state: State
    /// `createdAt`.
    public var createdAt: Date
    /// `finishedAt`.
    public var finishedAt: Date?
    /// The calls that matched when they were counted; while counting, those so far.
    public var matched: Int
    /// Calls that it acted on. After a crash, or if an instance that led loses its lease, up to one page of calls
    /// (a tenth of `ratePerSecond`, at most 100) can be missing here although it acted on them, or be among the
    /// skipped.
    public var done: Int
    /// Calls that it could not act on, because they had changed meanwhile, or because another instance of the
    /// service runs them.
    public var skipped: Int

    private enum CodingKeys: String, CodingKey {
      case id, action, filter, ratePerSecond, by, reason, state, createdAt, finishedAt, matched, done, skipped
    }

    /// Reads it from the service's JSON.
    public init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: CodingKeys.self)
      id = try members.decode(String.self, forKey: .id)
      action = try members.decode(RedialAPI.BulkAction.self, forKey: .action)
      filter = try members.decode(CallFilter.self, forKey: .filter)
      ratePerSecond = try members.decode(Int.self, forKey: .ratePerSecond)
      by = try members.decodeIfPresent(String.self, forKey: .by)
      reason = try members.decodeIfPresent(String.self, forKey: .reason)
      state = try members.decode(State.self, forKey: .state)
      createdAt = try members.decode(WireInstant.self, forKey: .createdAt).date
      finishedAt = try members.decodeIfPresent(WireInstant.self, forKey: .finishedAt).map { $0.date }
      matched = try members.decode(Int.self, forKey: .matched)
      done = try members.decode(Int.self, forKey: .done)
      skipped = try members.decode(Int.self, forKey: .skipped)
    }

    /// Writes it as the service does.
    public func encode(to encoder: any Encoder) throws {
      var members = encoder.container(keyedBy: CodingKeys.self)
      try members.encode(id, forKey: .id)
      try members.encode(action, forKey: .action)
      try members.encode(filter, forKey: .filter)
      try members.encode(ratePerSecond, forKey: .ratePerSecond)
      try members.encodeIfPresent(by, forKey: .by)
      try members.encodeIfPresent(reason, forKey: .reason)
      try members.encode(state, forKey: .state)
      try members.encode(WireInstant(createdAt), forKey: .createdAt)
      try members.encode(finishedAt.map { WireInstant($0) }, forKey: .finishedAt)
      try members.encode(matched, forKey: .matched)
      try members.encode(done, forKey: .done)
      try members.encode(skipped, forKey: .skipped)
    }

    /// `counting`: it counts the matching calls. `running`: it acts on them. The others are ends.
    public struct State: RedialWord {
      /// The word.
      public let rawValue: String
      /// A value with that word.
      public init(rawValue: String) { self.rawValue = rawValue }

      /// `counting`.
      public static let counting = State(rawValue: "counting")
      /// `running`.
      public static let running = State(rawValue: "running")
      /// `completed`.
      public static let completed = State(rawValue: "completed")
      /// `cancelled`.
      public static let cancelled = State(rawValue: "cancelled")
    }
  }
}

extension RedialAPI {
  /// What somebody has done; a newer version may have written words that are not here.
  public struct AuditAction: RedialWord {
    /// The word.
    public let rawValue: String
    /// A value with that word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// `key.created`.
    public static let keyCreated = AuditAction(rawValue: "key.created")
    /// `key.revoked`.
    public static let keyRevoked = AuditAction(rawValue: "key.revoked")
    /// `endpoint.created`.
    public static let endpointCreated = AuditAction(rawValue: "endpoint.created")
    /// `endpoint.changed`.
    public static let endpointChanged = AuditAction(rawValue: "endpoint.changed")
    /// `endpoint.removed`.
    public static let endpointRemoved = AuditAction(rawValue: "endpoint.removed")
    /// `endpoint.secretRotated`.
    public static let endpointSecretRotated = AuditAction(rawValue: "endpoint.secretRotated")
    /// `endpoint.tested`.
    public static let endpointTested = AuditAction(rawValue: "endpoint.tested")
    /// `webhookSecret.read`.
    public static let webhookSecretRead = AuditAction(rawValue: "webhookSecret.read")
    /// `policy.put`.
    public static let policyPut = AuditAction(rawValue: "policy.put")
    /// `policy.removed`.
    public static let policyRemoved = AuditAction(rawValue: "policy.removed")
    /// `target.changed`.
    public static let targetChanged = AuditAction(rawValue: "target.changed")
    /// `target.paused`.
    public static let targetPaused = AuditAction(rawValue: "target.paused")
    /// `target.resumed`.
    public static let targetResumed = AuditAction(rawValue: "target.resumed")
    /// `target.tripped`.
    public static let targetTripped = AuditAction(rawValue: "target.tripped")
    /// `target.reset`.
    public static let targetReset = AuditAction(rawValue: "target.reset")
    /// `target.released`.
    public static let targetReleased = AuditAction(rawValue: "target.released")
    /// `call.cancelled`.
    public static let callCancelled = AuditAction(rawValue: "call.cancelled")
    /// `call.retried`.
    public static let callRetried = AuditAction(rawValue: "call.retried")
    /// `call.erased`.
    public static let callErased = AuditAction(rawValue: "call.erased")
    /// `call.replayed`.
    public static let callReplayed = AuditAction(rawValue: "call.replayed")
    /// `operation.started`.
    public static let operationStarted = AuditAction(rawValue: "operation.started")
    /// `operation.stopped`.
    public static let operationStopped = AuditAction(rawValue: "operation.stopped")
    /// `issue.changed`.
    public static let issueChanged = AuditAction(rawValue: "issue.changed")
    /// `alert.changed`.
    public static let alertChanged = AuditAction(rawValue: "alert.changed")
    /// `alert.silenced`.
    public static let alertSilenced = AuditAction(rawValue: "alert.silenced")
    /// `alert.removed`.
    public static let alertRemoved = AuditAction(rawValue: "alert.removed")
    /// `alert.tested`.
    public static let alertTested = AuditAction(rawValue: "alert.tested")
    /// `credential.put`.
    public static let credentialPut = AuditAction(rawValue: "credential.put")
    /// `credential.removed`.
    public static let credentialRemoved = AuditAction(rawValue: "credential.removed")
    /// `dataKeys.replaced`.
    public static let dataKeysReplaced = AuditAction(rawValue: "dataKeys.replaced")
    /// `dataKeys.erased`.
    public static let dataKeysErased = AuditAction(rawValue: "dataKeys.erased")
    /// `commits.lost`.
    public static let commitsLost = AuditAction(rawValue: "commits.lost")
  }
}

extension RedialAPI {
  /// Who did what. Nothing changes it; it is removed after `auditRetentionTime`.
  public struct AuditRecord: Sendable, Hashable, Codable, Identifiable {
    /// `id`.
    public var id: String
    /// `at`.
    public var at: Date
    /// That of whoever did it.
    public var namespace: String
    /// `key`: a client with an API key. `adminKey`: with the admin key of the settings. `person`: somebody whom a
    /// trusted proxy has named. `anybody`: no key was needed. `command`: `redial keys` while no service ran.
    /// `instance`: the service itself.
    public var actorKind: ActorKind
    /// The key's id; the name of the person, or of the system's user who ran the command; null for others.
    public var actor: String?
    /// The key's name; null for others.
    public var actorName: String?
    /// The client's address, also behind one of the `trustedProxies`; null over a Unix domain socket.
    public var address: String?
    /// What somebody has done; a newer version may have written words that are not here.
    public var action: RedialAPI.AuditAction
    /// The id, name or key of what was changed.
    public var object: String
    /// The members that differ, as they were; null for none, or if that is not known. No secrets.
    public var before: RedialJSON?
    /// The members that differ, as they are now; null for none.
    public var after: RedialJSON?

    private enum CodingKeys: String, CodingKey {
      case id, at, namespace, actorKind, actor, actorName, address, action, object, before, after
    }

    /// Reads it from the service's JSON.
    public init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: CodingKeys.self)
      id = try members.decode(String.self, forKey: .id)
      at = try members.decode(WireInstant.self, forKey: .at).date
      namespace = try members.decode(String.self, forKey: .namespace)
      actorKind = try members.decode(ActorKind.self, forKey: .actorKind)
      actor = try members.decodeIfPresent(String.self, forKey: .actor)
      actorName = try members.decodeIfPresent(String.self, forKey: .actorName)
      address = try members.decodeIfPresent(String.self, forKey: .address)
      action = try members.decode(RedialAPI.AuditAction.self, forKey: .action)
      object = try members.decode(String.self, forKey: .object)
      before = try members.decodeIfPresent(RedialJSON.self, forKey: .before)
      after = try members.decodeIfPresent(RedialJSON.self, forKey: .after)
    }

    /// Writes it as the service does.
    public func encode(to encoder: any Encoder) throws {
      var members = encoder.container(keyedBy: CodingKeys.self)
      try members.encode(id, forKey: .id)
      try members.encode(WireInstant(at), forKey: .at)
      try members.encode(namespace, forKey: .namespace)
      try members.encode(actorKind, forKey: .actorKind)
      try members.encode(actor, forKey: .actor)
      try members.encode(actorName, forKey: .actorName)
      try members.encode(address, forKey: .address)
      try members.encode(action, forKey: .action)
      try members.encode(object, forKey: .object)
      try members.encode(before, forKey: .before)
      try members.encode(after, forKey: .after)
    }

    /// `key`: a client with an API key. `adminKey`: with the admin key of the settings. `person`: somebody whom a
    /// trusted proxy has named. `anybody`: no key was needed. `command`: `redial keys` while no service ran.
    /// `instance`: the service itself.
    public struct ActorKind: RedialWord {
      /// The word.
      public let rawValue: String
      /// A value with that word.
      public init(rawValue: String) { self.rawValue = rawValue }

      /// `key`.
      public static let key = ActorKind(rawValue: "key")
      /// `adminKey`.
      public static let adminKey = ActorKind(rawValue: "adminKey")
      /// `person`.
      public static let person = ActorKind(rawValue: "person")
      /// `anybody`.
      public static let anybody = ActorKind(rawValue: "anybody")
      /// `command`.
      public static let command = ActorKind(rawValue: "command")
      /// `instance`.
      public static let instance = ActorKind(rawValue: "instance")
    }
  }
}

extension RedialAPI {
  /// `down`: a target has an outage. `held`: somebody has paused or tripped a target, and calls wait. `late`:
  /// calls have been due for a minute or more for a target that is neither. `failing`: no attempt at a target has
  /// succeeded in a quarter of an hour, without so many failures that it is down; or calls with something in
  /// common fail again and again while the others work. `failed`: calls have failed, all their attempts used or
  /// given up. `stuck`: a check of the store finds calls that nothing moves (only in the namespace `default`).
  public struct IssueKind: RedialWord {
    /// The word.
    public let rawValue: String
    /// A value with that word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// `down`.
    public static let down = IssueKind(rawValue: "down")
    /// `late`.
    public static let late = IssueKind(rawValue: "late")
    /// `held`.
    public static let held = IssueKind(rawValue: "held")
    /// `failing`.
    public static let failing = IssueKind(rawValue: "failing")
    /// `failed`.
    public static let failed = IssueKind(rawValue: "failed")
    /// `stuck`.
    public static let stuck = IssueKind(rawValue: "stuck")
  }
}

extension RedialAPI {
  /// `open`: there is no statement about it. `acknowledged`: somebody knows of it. `resolved`: it is over, or
  /// somebody has said that it is done with, and no call has failed so since.
  public struct IssueState: RedialWord {
    /// The word.
    public let rawValue: String
    /// A value with that word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// `open`.
    public static let open = IssueState(rawValue: "open")
    /// `acknowledged`.
    public static let acknowledged = IssueState(rawValue: "acknowledged")
    /// `resolved`.
    public static let resolved = IssueState(rawValue: "resolved")
  }
}

extension RedialAPI {
  /// What somebody states about an issue.
  public struct IssueChange: Sendable, Hashable, Encodable {
    /// `open`: there is no statement about it.
    public var state: RedialAPI.IssueState
    /// Until when it counts as acknowledged, or how long from now; 7 days if it is left out.
    public var until: RedialAPI.Moment?
    /// Who.
    public var by: String?
    /// Why.
    public var reason: String?

    /// Creates one; what is left out is not sent.
    public init(state: RedialAPI.IssueState, until: RedialAPI.Moment? = nil, by: String? = nil, reason: String? = nil) {
      self.state = state
      self.until = until
      self.by = by
      self.reason = reason
    }
  }
}

extension RedialAPI {
  /// `Issue` of the contract.
  public struct Issue: Sendable, Hashable, Codable, Identifiable {
    /// The id of an issue.
    public var id: String
    /// `open`: there is no statement about it.
    public var state: RedialAPI.IssueState
    /// `down`: a target has an outage.
    public var kind: RedialAPI.IssueKind
    /// Null for calls that a check of the store finds.
    public var target: String?
    /// Why its calls failed, or what most of them wait for; null for none.
    public var reason: Reason
    /// What the last attempt of its calls failed with: the status and what the answer says, or the code and the
    /// message of a failure. `{n}`, `{id}`, `{time}`, `{address}` and `{email}` stand for what differs. For `down`,
    /// what the outage began with; for `failing`, what the calls have in common, and with what they failed last;
    /// for `held`, `paused` or `tripped`; for `stuck`, the check. Null if there is none, such as when a deadline
    /// passed meanwhile.
    public var error: String?
    /// The calls that it concerns now; of `failing` ones up to 1,000 are counted.
    public var calls: Int
    /// Since when it is so. When the first of its calls failed; since when the oldest late one is due.
    public var firstAt: Date
    /// When the last of its calls failed; otherwise the time of the answer.
    public var lastAt: Date
    /// How many of them failed in each of the last 24 hours, the latest last; null unless they have failed.
    public var lastHours: [Int]?
    /// The newest of those that failed; null for others.
    public var example: String?
    /// The last statement about it; null for none.
    public var mark: Mark?
    /// What selects its calls, in a list and in an operation; null for `stuck`. That of a target selects all that
    /// wait for it, also those whose own time has not come.
    public var filter: CallFilter?
    /// Whom an issue concerns: its newest calls, at most 1,000, summed by the path of their URLs and by label.
    public var affected: RedialAPI.AffectedCalls?

    private enum CodingKeys: String, CodingKey {
      case id, state, kind, target, reason, error, calls, firstAt, lastAt, lastHours, example, mark, filter, affected
    }

    /// Reads it from the service's JSON.
    public init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: CodingKeys.self)
      id = try members.decode(String.self, forKey: .id)
      state = try members.decode(RedialAPI.IssueState.self, forKey: .state)
      kind = try members.decode(RedialAPI.IssueKind.self, forKey: .kind)
      target = try members.decodeIfPresent(String.self, forKey: .target)
      reason = try members.decode(Reason.self, forKey: .reason)
      error = try members.decodeIfPresent(String.self, forKey: .error)
      calls = try members.decode(Int.self, forKey: .calls)
      firstAt = try members.decode(WireInstant.self, forKey: .firstAt).date
      lastAt = try members.decode(WireInstant.self, forKey: .lastAt).date
      lastHours = try members.decodeIfPresent([Int].self, forKey: .lastHours)
      example = try members.decodeIfPresent(String.self, forKey: .example)
      mark = try members.decodeIfPresent(Mark.self, forKey: .mark)
      filter = try members.decodeIfPresent(CallFilter.self, forKey: .filter)
      affected = try members.decodeIfPresent(RedialAPI.AffectedCalls.self, forKey: .affected)
    }

    /// Writes it as the service does.
    public func encode(to encoder: any Encoder) throws {
      var members = encoder.container(keyedBy: CodingKeys.self)
      try members.encode(id, forKey: .id)
      try members.encode(state, forKey: .state)
      try members.encode(kind, forKey: .kind)
      try members.encode(target, forKey: .target)
      try members.encode(reason, forKey: .reason)
      try members.encode(error, forKey: .error)
      try members.encode(calls, forKey: .calls)
      try members.encode(WireInstant(firstAt), forKey: .firstAt)
      try members.encode(WireInstant(lastAt), forKey: .lastAt)
      try members.encode(lastHours, forKey: .lastHours)
      try members.encode(example, forKey: .example)
      try members.encode(mark, forKey: .mark)
      try members.encode(filter, forKey: .filter)
      try members.encodeIfPresent(affected, forKey: .affected)
    }

    /// Why its calls failed, or what most of them wait for; null for none.
    public struct Reason: RedialWord {
      /// The word.
      public let rawValue: String
      /// A value with that word.
      public init(rawValue: String) { self.rawValue = rawValue }

      /// `attemptsExhausted`.
      public static let attemptsExhausted = Reason(rawValue: "attemptsExhausted")
      /// `deadlineExceeded`.
      public static let deadlineExceeded = Reason(rawValue: "deadlineExceeded")
      /// `notRetryable`.
      public static let notRetryable = Reason(rawValue: "notRetryable")
      /// `tripped`.
      public static let tripped = Reason(rawValue: "tripped")
      /// `blocked`.
      public static let blocked = Reason(rawValue: "blocked")
      /// `attemptEndedTheService`.
      public static let attemptEndedTheService = Reason(rawValue: "attemptEndedTheService")
      /// `startTime`.
      public static let startTime = Reason(rawValue: "startTime")
      /// `backoff`.
      public static let backoff = Reason(rawValue: "backoff")
      /// `retryAfter`.
      public static let retryAfter = Reason(rawValue: "retryAfter")
      /// `breaker`.
      public static let breaker = Reason(rawValue: "breaker")
      /// `concurrency`.
      public static let concurrency = Reason(rawValue: "concurrency")
      /// `rateLimit`.
      public static let rateLimit = Reason(rawValue: "rateLimit")
      /// `retryBudget`.
      public static let retryBudget = Reason(rawValue: "retryBudget")
      /// `ordering`.
      public static let ordering = Reason(rawValue: "ordering")
      /// `paused`.
      public static let paused = Reason(rawValue: "paused")
      /// `pace`.
      public static let pace = Reason(rawValue: "pace")
      /// `connections`.
      public static let connections = Reason(rawValue: "connections")
    }

    /// `Mark` of the contract.
    public struct Mark: Sendable, Hashable, Codable {
      /// `state`.
      public var state: State
      /// `at`.
      public var at: Date
      /// `by`.
      public var by: String?
      /// `reason`.
      public var reason: String?
      /// `until`.
      public var until: Date?

      private enum CodingKeys: String, CodingKey { case state, at, by, reason, until }

      /// Reads it from the service's JSON.
      public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        state = try members.decode(State.self, forKey: .state)
        at = try members.decode(WireInstant.self, forKey: .at).date
        by = try members.decodeIfPresent(String.self, forKey: .by)
        reason = try members.decodeIfPresent(String.self, forKey: .reason)
        until = try members.decodeIfPresent(WireInstant.self, forKey: .until).map { $0.date }
      }

      /// Writes it as the service does.
      public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(state, forKey: .state)
        try members.encode(WireInstant(at), forKey: .at)
        try members.encode(by, forKey: .by)
        try members.encode(reason, forKey: .reason)
        try members.encode(until.map { WireInstant($0) }, forKey: .until)
      }

      /// A word of `state`.
      public struct State: RedialWord {
        /// The word.
        public let rawValue: String
        /// A value with that word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// `acknowledged`.
        public static let acknowledged = State(rawValue: "acknowledged")
        /// `resolved`.
        public static let resolved = State(rawValue: "resolved")
      }
    }
  }
}

extension RedialAPI {
  /// Whom an issue concerns: its newest calls, at most 1,000, summed by the path of their URLs and by label. Only
  /// in the answer about one issue.
  public struct AffectedCalls: Sendable, Hashable, Codable {
    /// How many calls were counted.
    public var counted: Int
    /// Whether these are all of the issue.
    public var isComplete: Bool
    /// The 10 paths of the most calls. `{n}` and `{id}` stand for numbers and ids.
    public var paths: [Path]
    /// The 20 labels of the most calls.
    public var labels: [Label]

    /// `Path` of the contract.
    public struct Path: Sendable, Hashable, Codable {
      /// `path`.
      public var path: String
      /// `calls`.
      public var calls: Int
    }

    /// `Label` of the contract.
    public struct Label: Sendable, Hashable, Codable {
      /// `name`.
      public var name: String
      /// `value`.
      public var value: String
      /// `calls`.
      public var calls: Int
    }
  }
}

extension RedialAPI {
  /// What proves who sends a request: `bearer`, `basic`, `header`, `query`, `oauth2` (client credentials, RFC
  /// 6749 §4.4) and `awsSigV4`. What signs its content: `standardWebhooks`, `github`, `stripe`, `slack` and
  /// `hmacSHA256`.
  public struct CredentialType: RedialWord {
    /// The word.
    public let rawValue: String
    /// A value with that word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// `bearer`.
    public static let bearer = CredentialType(rawValue: "bearer")
    /// `basic`.
    public static let basic = CredentialType(rawValue: "basic")
    /// `header`.
    public static let header = CredentialType(rawValue: "header")
    /// `query`.
    public static let query = CredentialType(rawValue: "query")
    /// `oauth2`.
    public static let oauth2 = CredentialType(rawValue: "oauth2")
    /// `awsSigV4`.
    public static let awsSigV4 = CredentialType(rawValue: "awsSigV4")
    /// `standardWebhooks`.
    public static let standardWebhooks = CredentialType(rawValue: "standardWebhooks")
    /// `github`.
    public static let github = CredentialType(rawValue: "github")
    /// `stripe`.
    public static let stripe = CredentialType(rawValue: "stripe")
    /// `slack`.
    public static let slack = CredentialType(rawValue: "slack")
    /// `hmacSHA256`.
    public static let hmacSHA256 = CredentialType(rawValue: "hmacSHA256")
  }
}

extension RedialAPI {
  /// What a client says about a credential.
  public struct CredentialDraft: Sendable, Hashable, Encodable {
    /// What it is; each other member says to which types it belongs.
    public var type: RedialAPI.CredentialType
    /// `bearer`: the token.
    public var token: String?
    /// `basic`: the user.
    public var username: String?
    /// `basic`: the password.
    public var password: String?
    /// `header` and `hmacSHA256`: the name of the header field.
    public var header: String?
    /// `header` and `query`: the value.
    public var value: String?
    /// `query`: the name of the parameter.
    public var parameter: String?
    /// `oauth2`: the URL of the token endpoint. The egress policy has to allow it, and no redirect is followed.
    public var tokenURL: String?
    /// `oauth2`: the id of the client.
    public var clientID: String?
    /// `oauth2`: the secret of the client, for `basic` and `post`.
    public var clientSecret: String?
    /// `oauth2`: how the client says who it is (`client_secret_basic`, `client_secret_post`, `private_key_jwt`). By
    /// default `privateKeyJWT` with a private key, and `basic` without.
    public var clientAuthentication: ClientAuthentication?
    /// `oauth2`: the private key in PEM, without a pass phrase, for `privateKeyJWT`.
    public var privateKey: String?
    /// `oauth2`: the `kid` of the assertion.
    public var keyID: String?
    /// `oauth2`: how the assertion is signed; `RS256` by default.
    public var algorithm: Algorithm?
    /// `oauth2`: the scope of the token.
    public var scope: String?
    /// `oauth2`: the audience, for services that want one.
    public var audience: String?
    /// `oauth2`: the resource (RFC 8707).
    public var resource: String?
    /// `awsSigV4`: the id of the access key.
    public var accessKeyID: String?
    /// `awsSigV4`: the secret access key.
    public var secretAccessKey: String?
    /// `awsSigV4`: the session token of temporary keys.
    public var sessionToken: String?
    /// `awsSigV4`: the region, such as `eu-central-1`.
    public var region: String?
    /// `awsSigV4`: the service, such as `execute-api` or `s3`.
    public var service: String?
    /// What signs: for `standardWebhooks` `whsec_` or `whsk_` and base 64, for others any text.
    public var secret: String?
    /// The secret from before a rotation; it signs, too, until it is left out. `standardWebhooks`, `stripe` and
    /// `hmacSHA256` have room for two signatures.
    public var previousSecret: String?
    /// `hmacSHA256`: what stands before the signature, such as `sha256=`.
    public var prefix: String?
    /// `hmacSHA256`: how the signature is written; `hex` by default.
    public var encoding: Encoding?
    /// The origins to which it may be sent, such as `https://api.example.com`.
    public var origins: [String]
    /// What it is for, for people.
    public var description: String?

    /// Creates one; what is left out is not sent.
    public init(
      type: RedialAPI.CredentialType, origins: [String], token: String? = nil, username: String? = nil,
      password: String? = nil, header: String? = nil, value: String? = nil, parameter: String? = nil,
      tokenURL: String? = nil, clientID: String? = nil, clientSecret: String? = nil,
      clientAuthentication: ClientAuthentication? = nil, privateKey: String? = nil, keyID: String? = nil,
      algorithm: Algorithm? = nil, scope: String? = nil, audience: String? = nil, resource: String? = nil,
      accessKeyID: String? = nil, secretAccessKey: String? = nil, sessionToken: String? = nil, region: String? = nil,
      service: String? = nil, secret: String? = nil, previousSecret: String? = nil, prefix: String? = nil,
      encoding: Encoding? = nil, description: String? = nil
    ) {
      self.type = type
      self.token = token
      self.username = username
      self.password = password
      self.header = header
      self.value = value
      self.parameter = parameter
      self.tokenURL = tokenURL
      self.clientID = clientID
      self.clientSecret = clientSecret
      self.clientAuthentication = clientAuthentication
      self.privateKey = privateKey
      self.keyID = keyID
      self.algorithm = algorithm
      self.scope = scope
      self.audience = audience
      self.resource = resource
      self.accessKeyID = accessKeyID
      self.secretAccessKey = secretAccessKey
      self.sessionToken = sessionToken
      self.region = region
      self.service = service
      self.secret = secret
      self.previousSecret = previousSecret
      self.prefix = prefix
      self.encoding = encoding
      self.origins = origins
      self.description = description
    }

    /// `oauth2`: how the client says who it is (`client_secret_basic`, `client_secret_post`, `private_key_jwt`). By
    /// default `privateKeyJWT` with a private key, and `basic` without.
    public struct ClientAuthentication: RedialWord {
      /// The word.
      public let rawValue: String
      /// A value with that word.
      public init(rawValue: String) { self.rawValue = rawValue }

      /// `basic`.
      public static let basic = ClientAuthentication(rawValue: "basic")
      /// `post`.
      public static let post = ClientAuthentication(rawValue: "post")
      /// `privateKeyJWT`.
      public static let privateKeyJWT = ClientAuthentication(rawValue: "privateKeyJWT")
    }

    /// `oauth2`: how the assertion is signed; `RS256` by default.
    public struct Algorithm: RedialWord {
      /// The word.
      public let rawValue: String
      /// A value with that word.
      public init(rawValue: String) { self.rawValue = rawValue }

      /// `RS256`.
      public static let RS256 = Algorithm(rawValue: "RS256")
      /// `ES256`.
      public static let ES256 = Algorithm(rawValue: "ES256")
    }

    /// `hmacSHA256`: how the signature is written; `hex` by default.
    public struct Encoding: RedialWord {
      /// The word.
      public let rawValue: String
      /// A value with that word.
      public init(rawValue: String) { self.rawValue = rawValue }

      /// `hex`.
      public static let hex = Encoding(rawValue: "hex")
      /// `base64`.
      public static let base64 = Encoding(rawValue: "base64")
    }
  }
}

extension RedialAPI {
  /// `Credential` of the contract.
  public struct Credential: Sendable, Hashable, Codable {
    /// Letters, digits, `.`, `_` and `-`.
    public var name: String
    /// What proves who sends a request: `bearer`, `basic`, `header`, `query`, `oauth2` (client credentials, RFC
    /// 6749 §4.4) and `awsSigV4`.
    public var type: RedialAPI.CredentialType
    /// `username`.
    public var username: String?
    /// `header`.
    public var header: String?
    /// `parameter`.
    public var parameter: String?
    /// `tokenURL`.
    public var tokenURL: String?
    /// `clientID`.
    public var clientID: String?
    /// `clientAuthentication`.
    public var clientAuthentication: String?
    /// `keyID`.
    public var keyID: String?
    /// `algorithm`.
    public var algorithm: String?
    /// `scope`.
    public var scope: String?
    /// `audience`.
    public var audience: String?
    /// `resource`.
    public var resource: String?
    /// `accessKeyID`.
    public var accessKeyID: String?
    /// `region`.
    public var region: String?
    /// `service`.
    public var service: String?
    /// `prefix`.
    public var prefix: String?
    /// `encoding`.
    public var encoding: String?
    /// `origins`.
    public var origins: [String]
    /// `description`.
    public var description: String?
    /// `createdAt`.
    public var createdAt: Date
    /// `changedAt`.
    public var changedAt: Date
    /// Only for `oauth2`, how its access token stands at the instance that answers.
    public var accessToken: AccessToken?

    private enum CodingKeys: String, CodingKey {
      case name, type, username, header, parameter, tokenURL, clientID, clientAuthentication, keyID, algorithm, scope,
        audience, resource, accessKeyID, region, service, prefix, encoding, origins, description, createdAt, changedAt,
        accessToken
    }

    /// Reads it from the service's JSON.
    public init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: CodingKeys.self)
      name = try members.decode(String.self, forKey: .name)
      type = try members.decode(RedialAPI.CredentialType.self, forKey: .type)
      username = try members.decodeIfPresent(String.self, forKey: .username)
      header = try members.decodeIfPresent(String.self, forKey: .header)
      parameter = try members.decodeIfPresent(String.self, forKey: .parameter)
      tokenURL = try members.decodeIfPresent(String.self, forKey: .tokenURL)
      clientID = try members.decodeIfPresent(String.self, forKey: .clientID)
      clientAuthentication = try members.decodeIfPresent(String.self, forKey: .clientAuthentication)
      keyID = try members.decodeIfPresent(String.self, forKey: .keyID)
      algorithm = try members.decodeIfPresent(String.self, forKey: .algorithm)
      scope = try members.decodeIfPresent(String.self, forKey: .scope)
      audience = try members.decodeIfPresent(String.self, forKey: .audience)
      resource = try members.decodeIfPresent(String.self, forKey: .resource)
      accessKeyID = try members.decodeIfPresent(String.self, forKey: .accessKeyID)
      region = try members.decodeIfPresent(String.self, forKey: .region)
      service = try members.decodeIfPresent(String.self, forKey: .service)
      prefix = try members.decodeIfPresent(String.self, forKey: .prefix)
      encoding = try members.decodeIfPresent(String.self, forKey: .encoding)
      origins = try members.decode([String].self, forKey: .origins)
      description = try members.decodeIfPresent(String.self, forKey: .description)
      createdAt = try members.decode(WireInstant.self, forKey: .createdAt).date
      changedAt = try members.decode(WireInstant.self, forKey: .changedAt).date
      accessToken = try members.decodeIfPresent(AccessToken.self, forKey: .accessToken)
    }

    /// Writes it as the service does.
    public func encode(to encoder: any Encoder) throws {
      var members = encoder.container(keyedBy: CodingKeys.self)
      try members.encode(name, forKey: .name)
      try members.encode(type, forKey: .type)
      try members.encodeIfPresent(username, forKey: .username)
      try members.encodeIfPresent(header, forKey: .header)
      try members.encodeIfPresent(parameter, forKey: .parameter)
      try members.encodeIfPresent(tokenURL, forKey: .tokenURL)
      try members.encodeIfPresent(clientID, forKey: .clientID)
      try members.encodeIfPresent(clientAuthentication, forKey: .clientAuthentication)
      try members.encodeIfPresent(keyID, forKey: .keyID)
      try members.encodeIfPresent(algorithm, forKey: .algorithm)
      try members.encodeIfPresent(scope, forKey: .scope)
      try members.encodeIfPresent(audience, forKey: .audience)
      try members.encodeIfPresent(resource, forKey: .resource)
      try members.encodeIfPresent(accessKeyID, forKey: .accessKeyID)
      try members.encodeIfPresent(region, forKey: .region)
      try members.encodeIfPresent(service, forKey: .service)
      try members.encodeIfPresent(prefix, forKey: .prefix)
      try members.encodeIfPresent(encoding, forKey: .encoding)
      try members.encode(origins, forKey: .origins)
      try members.encode(description, forKey: .description)
      try members.encode(WireInstant(createdAt), forKey: .createdAt)
      try members.encode(WireInstant(changedAt), forKey: .changedAt)
      try members.encodeIfPresent(accessToken, forKey: .accessToken)
    }

    /// Only for `oauth2`, how its access token stands at the instance that answers.
    public struct AccessToken: Sendable, Hashable, Codable {
      /// `state`.
      public var state: State
      /// `expiresAt`.
      public var expiresAt: Date?
      /// Why the last fetch failed.
      public var problem: String?
      /// Until then no token is fetched.
      public var nextFetchAt: Date?

      private enum CodingKeys: String, CodingKey { case state, expiresAt, problem, nextFetchAt }

      /// Reads it from the service's JSON.
      public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        state = try members.decode(State.self, forKey: .state)
        expiresAt = try members.decodeIfPresent(WireInstant.self, forKey: .expiresAt).map { $0.date }
        problem = try members.decodeIfPresent(String.self, forKey: .problem)
        nextFetchAt = try members.decodeIfPresent(WireInstant.self, forKey: .nextFetchAt).map { $0.date }
      }

      /// Writes it as the service does.
      public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(state, forKey: .state)
        try members.encodeIfPresent(expiresAt.map { WireInstant($0) }, forKey: .expiresAt)
        try members.encodeIfPresent(problem, forKey: .problem)
        try members.encodeIfPresent(nextFetchAt.map { WireInstant($0) }, forKey: .nextFetchAt)
      }

      /// A word of `state`.
      public struct State: RedialWord {
        /// The word.
        public let rawValue: String
        /// A value with that word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// `none`.
        public static let none = State(rawValue: "none")
        /// `fetching`.
        public static let fetching = State(rawValue: "fetching")
        /// `valid`.
        public static let valid = State(rawValue: "valid")
        /// `failing`.
        public static let failing = State(rawValue: "failing")
      }
    }
  }
}

extension RedialAPI {
  /// What a client says about an alert.
  public struct AlertDraft: Sendable, Hashable, Encodable {
    /// The kinds of issues that it watches for; all by default.
    public var kinds: [RedialAPI.IssueKind]?
    /// If not empty, only issues of these targets.
    public var targets: [String]?
    /// How long an issue has to be there, up to 7 days; by default 5 minutes for `down`, `late`, `failing` and
    /// `stuck`, 30 minutes for `held`, 1 minute for `failed`.
    public var after: Duration?
    /// Where the messages go: exactly one of `endpoint`, `slack`, `teams` and `pagerDuty`. URLs have to be allowed
    /// by the egress policy.
    public var to: To?

    /// Creates one; what is left out is not sent.
    public init(kinds: [RedialAPI.IssueKind]? = nil, targets: [String]? = nil, after: Duration? = nil, to: To? = nil) {
      self.kinds = kinds
      self.targets = targets
      self.after = after
      self.to = to
    }

    private enum CodingKeys: String, CodingKey { case kinds, targets, after, to }

    /// Writes it as the service does.
    public func encode(to encoder: any Encoder) throws {
      var members = encoder.container(keyedBy: CodingKeys.self)
      try members.encodeIfPresent(kinds, forKey: .kinds)
      try members.encodeIfPresent(targets, forKey: .targets)
      try members.encodeIfPresent(after.map { WireSpan($0) }, forKey: .after)
      try members.encodeIfPresent(to, forKey: .to)
    }

    /// Where the messages go: exactly one of `endpoint`, `slack`, `teams` and `pagerDuty`. URLs have to be allowed
    /// by the egress policy.
    public struct To: Sendable, Hashable, Encodable {
      /// The id of a webhook endpoint; it gets events of type `alert.opened` and `alert.ended`, signed.
      public var endpoint: String?
      /// The URL of an incoming webhook of Slack.
      public var slack: String?
      /// The URL of a workflow of Microsoft Teams that posts when a webhook request comes.
      public var teams: String?
      /// The integration key of a PagerDuty service (Events API v2).
      public var pagerDuty: String?
      /// Only for PagerDuty, where its events go; such as `https://events.eu.pagerduty.com/v2/enqueue`.
      public var url: String?

      /// Creates one; what is left out is not sent.
      public init(
        endpoint: String? = nil, slack: String? = nil, teams: String? = nil, pagerDuty: String? = nil,
        url: String? = nil
      ) {
        self.endpoint = endpoint
        self.slack = slack
        self.teams = teams
        self.pagerDuty = pagerDuty
        self.url = url
      }
    }
  }
}

extension RedialAPI {
  /// `Alert` of the contract.
  public struct Alert: Sendable, Hashable, Codable {
    /// Letters, digits, `.`, `_` and `-`.
    public var name: String
    /// `kinds`.
    public var kinds: [RedialAPI.IssueKind]
    /// `targets`.
    public var targets: [String]
    /// How long an issue has to be there; null for the usual time of each kind.
    public var after: Duration?
    /// Where the messages go. Of a chat only the server is shown, and of PagerDuty's key nothing.
    public var to: To
    /// `createdAt`.
    public var createdAt: Date
    /// Until when nobody is notified that an issue begins; null if they are.
    public var silence: Silence?
    /// Why its messages cannot be sent, in words; null if they can.
    public var problem: String?
    /// What selects its messages in a list of calls; also others to its webhook endpoint.
    public var filter: CallFilter

    private enum CodingKeys: String, CodingKey {
      case name, kinds, targets, after, to, createdAt, silence, problem, filter
    }

    /// Reads it from the service's JSON.
    public init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: CodingKeys.self)
      name = try members.decode(String.self, forKey: .name)
      kinds = try members.decode([RedialAPI.IssueKind].self, forKey: .kinds)
      targets = try members.decode([String].self, forKey: .targets)
      after = try members.decodeIfPresent(WireSpan.self, forKey: .after).map { $0.duration }
      to = try members.decode(To.self, forKey: .to)
      createdAt = try members.decode(WireInstant.self, forKey: .createdAt).date
      silence = try members.decodeIfPresent(Silence.self, forKey: .silence)
      problem = try members.decodeIfPresent(String.self, forKey: .problem)
      filter = try members.decode(CallFilter.self, forKey: .filter)
    }

    /// Writes it as the service does.
    public func encode(to encoder: any Encoder) throws {
      var members = encoder.container(keyedBy: CodingKeys.self)
      try members.encode(name, forKey: .name)
      try members.encode(kinds, forKey: .kinds)
      try members.encode(targets, forKey: .targets)
      try members.encode(after.map { WireSpan($0) }, forKey: .after)
      try members.encode(to, forKey: .to)
      try members.encode(WireInstant(createdAt), forKey: .createdAt)
      try members.encode(silence, forKey: .silence)
      try members.encode(problem, forKey: .problem)
      try members.encode(filter, forKey: .filter)
    }

    /// Where the messages go. Of a chat only the server is shown, and of PagerDuty's key nothing.
    public struct To: Sendable, Hashable, Codable {
      /// `endpoint`.
      public var endpoint: String?
      /// `slack`.
      public var slack: String?
      /// `teams`.
      public var teams: String?
      /// `pagerDuty`.
      public var pagerDuty: String?
      /// `url`.
      public var url: String?
    }

    /// `Silence` of the contract.
    public struct Silence: Sendable, Hashable, Codable {
      /// `until`.
      public var until: Date
      /// `by`.
      public var by: String?
      /// `reason`.
      public var reason: String?

      private enum CodingKeys: String, CodingKey { case until, by, reason }

      /// Reads it from the service's JSON.
      public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        until = try members.decode(WireInstant.self, forKey: .until).date
        by = try members.decodeIfPresent(String.self, forKey: .by)
        reason = try members.decodeIfPresent(String.self, forKey: .reason)
      }

      /// Writes it as the service does.
      public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(WireInstant(until), forKey: .until)
        try members.encode(by, forKey: .by)
        try members.encode(reason, forKey: .reason)
      }
    }
  }
}

extension RedialAPI {
  /// Whether messages of an alert are held back.
  public struct Silence: Sendable, Hashable, Encodable {
    /// False to end it.
    public var silenced: Bool
    /// Until when, or how long from now; 1 hour if it is left out.
    public var until: RedialAPI.Moment?
    /// Who.
    public var by: String?
    /// Why.
    public var reason: String?

    /// Creates one; what is left out is not sent.
    public init(silenced: Bool, until: RedialAPI.Moment? = nil, by: String? = nil, reason: String? = nil) {
      self.silenced = silenced
      self.until = until
      self.by = by
      self.reason = reason
    }
  }
}

extension RedialAPI {
  /// One outage of a target, however often its breaker opens meanwhile. It is over once the breaker has been
  /// closed for 30 s; or, because nobody calls the target any more, if no call was due and none was sent for 16
  /// minutes.
  public struct Outage: Sendable, Hashable, Codable {
    /// When the target began to fail.
    public var since: Date
    /// What the attempt failed with that opened the breaker; a word such as `connectionRefused`, or a status.
    /// `silence`: it was ended after a long one. `failureRate`: too many others failed.
    public var cause: String
    /// When the breaker closed; null while it is open or half-open, and if nobody calls the target any more.
    public var closedAt: Date?
    /// The time between both; null until then.
    public var duration: Duration?
    /// The most calls that were due at once, of the times at which the breaker changed.
    public var callsWaited: Int

    private enum CodingKeys: String, CodingKey { case since, cause, closedAt, duration, callsWaited }

    /// Reads it from the service's JSON.
    public init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: CodingKeys.self)
      since = try members.decode(WireInstant.self, forKey: .since).date
      cause = try members.decode(String.self, forKey: .cause)
      closedAt = try members.decodeIfPresent(WireInstant.self, forKey: .closedAt).map { $0.date }
      duration = try members.decodeIfPresent(WireSpan.self, forKey: .duration).map { $0.duration }
      callsWaited = try members.decode(Int.self, forKey: .callsWaited)
    }

    /// Writes it as the service does.
    public func encode(to encoder: any Encoder) throws {
      var members = encoder.container(keyedBy: CodingKeys.self)
      try members.encode(WireInstant(since), forKey: .since)
      try members.encode(cause, forKey: .cause)
      try members.encode(closedAt.map { WireInstant($0) }, forKey: .closedAt)
      try members.encode(duration.map { WireSpan($0) }, forKey: .duration)
      try members.encode(callsWaited, forKey: .callsWaited)
    }
  }
}

extension RedialAPI {
  /// `Target` of the contract.
  public struct Target: Sendable, Hashable, Codable {
    /// `key`.
    public var key: String
    /// `down`: it failed, and its breaker is open or half-open. `degraded`: its outage is not over yet, its pace is
    /// limited, or more than a tenth of its attempts in the last five minutes failed. `up`: none of that. What
    /// operators have done is in `paused` and `tripped`.
    public var state: State
    /// Its outage; null if it has none.
    public var outage: RedialAPI.Outage?
    /// Its outages that are over, the latest first: at most 10, of the last 30 days. They outlive restarts.
    /// `closedAt` and `duration` are null if nobody called the target any more.
    public var pastOutages: [RedialAPI.Outage]
    /// `breaker`.
    public var breaker: Breaker
    /// `inFlight`.
    public var inFlight: Int
    /// Due calls that wait for the target.
    public var waiting: Int
    /// Since when the oldest of them has been due; null if there are none. If they were due before a restart, it is
    /// at least since then.
    public var oldestDueAt: Date?
    /// Somebody has paused it, or it is the target of a webhook endpoint that is disabled or was removed; no call
    /// to it starts.
    public var paused: Bool
    /// Somebody holds its breaker open.
    public var tripped: Bool
    /// The end of the pause that the target asked for with `Retry-After`, or with `RateLimit` fields that report an
    /// exhausted quota; null if there is none.
    public var heldUntil: Date?
    /// How fast attempts to the target start: `fixed` within the limits that are set, or `adaptive`, within these
    /// limits and as fast as the target can take them. The other members are there if it is adaptive.
    public var pace: Pace
    /// The settings in effect.
    public var settings: RedialAPI.TargetSettings
    /// The settings that were set for this target by a PUT.
    public var overrides: RedialAPI.TargetSettings
    /// The pattern of the rule (setting `targetRules`) that applies where no PUT did, before the service's
    /// settings; null if none matches.
    public var pattern: String?
    /// The calls that have not run yet, due or not, counted by their wait reason.
    public var backlog: Backlog
    /// The results of the attempts of the last minutes, without those that were aborted by a cancel or a stop. Old
    /// attempts are forgotten in steps of ten seconds, in the longer windows of a minute. Not kept over a restart.
    public var recent: Recent
    /// The times of the calls that succeeded in the last 15 minutes.
    public var timeToSuccess: RedialAPI.TimeToSuccess?
    /// How long the due calls and those in flight would take if everything went on as in the last minute: the
    /// attempts needed, at the recent number per call, by concurrency over mean duration, and at most at the rate
    /// that is set, or that the pace has found. New calls are not counted. Null if unknown: its breaker is not
    /// closed, it is paused or asked for a pause, or no call to it has ended in the last minute.
    public var drainEstimate: Duration?

    private enum CodingKeys: String, CodingKey {
      case key, state, outage, pastOutages, breaker, inFlight, waiting, oldestDueAt, paused, tripped, heldUntil, pace,
        settings, overrides, pattern, backlog, recent, timeToSuccess, drainEstimate
    }

    /// Reads it from the service's JSON.
    public init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: CodingKeys.self)
      key = try members.decode(String.self, forKey: .key)
      state = try members.decode(State.self, forKey: .state)
      outage = try members.decodeIfPresent(RedialAPI.Outage.self, forKey: .outage)
      pastOutages = try members.decode([RedialAPI.Outage].self, forKey: .pastOutages)
      breaker = try members.decode(Breaker.self, forKey: .breaker)
      inFlight = try members.decode(Int.self, forKey: .inFlight)
      waiting = try members.decode(Int.self, forKey: .waiting)
      oldestDueAt = try members.decodeIfPresent(WireInstant.self, forKey: .oldestDueAt).map { $0.date }
      paused = try members.decode(Bool.self, forKey: .paused)
      tripped = try members.decode(Bool.self, forKey: .tripped)
      heldUntil = try members.decodeIfPresent(WireInstant.self, forKey: .heldUntil).map { $0.date }
      pace = try members.decode(Pace.self, forKey: .pace)
      settings = try members.decode(RedialAPI.TargetSettings.self, forKey: .settings)
      overrides = try members.decode(RedialAPI.TargetSettings.self, forKey: .overrides)
      pattern = try members.decodeIfPresent(String.self, forKey: .pattern)
      backlog = try members.decode(Backlog.self, forKey: .backlog)
      recent = try members.decode(Recent.self, forKey: .recent)
      timeToSuccess = try members.decodeIfPresent(RedialAPI.TimeToSuccess.self, forKey: .timeToSuccess)
      drainEstimate = try members.decodeIfPresent(WireSpan.self, forKey: .drainEstimate).map { $0.duration }
    }

    /// Writes it as the service does.
    public func encode(to encoder: any Encoder) throws {
      var members = encoder.container(keyedBy: CodingKeys.self)
      try members.encode(key, forKey: .key)
      try members.encode(state, forKey: .state)
      try members.encode(outage, forKey: .outage)
      try members.encode(pastOutages, forKey: .pastOutages)
      try members.encode(breaker, forKey: .breaker)
      try members.encode(inFlight, forKey: .inFlight)
      try members.encode(waiting, forKey: .waiting)
      try members.encode(oldestDueAt.map { WireInstant($0) }, forKey: .oldestDueAt)
      try members.encode(paused, forKey: .paused)
      try members.encode(tripped, forKey: .tripped)
      try members.encode(heldUntil.map { WireInstant($0) }, forKey: .heldUntil)
      try members.encode(pace, forKey: .pace)
      try members.encode(settings, forKey: .settings)
      try members.encode(overrides, forKey: .overrides)
      try members.encode(pattern, forKey: .pattern)
      try members.encode(backlog, forKey: .backlog)
      try members.encode(recent, forKey: .recent)
      try members.encode(timeToSuccess, forKey: .timeToSuccess)
      try members.encode(drainEstimate.map { WireSpan($0) }, forKey: .drainEstimate)
    }

    /// `down`: it failed, and its breaker is open or half-open. `degraded`: its outage is not over yet, its pace is
    /// limited, or more than a tenth of its attempts in the last five minutes failed. `up`: none of that. What
    /// operators have done is in `paused` and `tripped`.
    public struct State: RedialWord {
      /// The word.
      public let rawValue: String
      /// A value with that word.
      public init(rawValue: String) { self.rawValue = rawValue }

      /// `up`.
      public static let up = State(rawValue: "up")
      /// `degraded`.
      public static let degraded = State(rawValue: "degraded")
      /// `down`.
      public static let down = State(rawValue: "down")
    }

    /// `Breaker` of the contract.
    public struct Breaker: Sendable, Hashable, Codable {
      /// `open`: no attempt is made. `halfOpen`: probes are made.
      public var state: State
      /// When probes are let through; null unless it is open.
      public var openUntil: Date?
      /// Openings since it last closed.
      public var trips: Int
      /// `consecutiveFailures`.
      public var consecutiveFailures: Int

      private enum CodingKeys: String, CodingKey { case state, openUntil, trips, consecutiveFailures }

      /// Reads it from the service's JSON.
      public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        state = try members.decode(State.self, forKey: .state)
        openUntil = try members.decodeIfPresent(WireInstant.self, forKey: .openUntil).map { $0.date }
        trips = try members.decode(Int.self, forKey: .trips)
        consecutiveFailures = try members.decode(Int.self, forKey: .consecutiveFailures)
      }

      /// Writes it as the service does.
      public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(state, forKey: .state)
        try members.encode(openUntil.map { WireInstant($0) }, forKey: .openUntil)
        try members.encode(trips, forKey: .trips)
        try members.encode(consecutiveFailures, forKey: .consecutiveFailures)
      }

      /// `open`: no attempt is made. `halfOpen`: probes are made.
      public struct State: RedialWord {
        /// The word.
        public let rawValue: String
        /// A value with that word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// `closed`.
        public static let closed = State(rawValue: "closed")
        /// `open`.
        public static let open = State(rawValue: "open")
        /// `halfOpen`.
        public static let halfOpen = State(rawValue: "halfOpen")
      }
    }

    /// How fast attempts to the target start: `fixed` within the limits that are set, or `adaptive`, within these
    /// limits and as fast as the target can take them. The other members are there if it is adaptive.
    public struct Pace: Sendable, Hashable, Codable {
      /// Whether it is adapted to what the target can take.
      public var mode: Mode
      /// Attempts per second that may start, found from what the target refused and how fast it answered; null
      /// without a limit, because it has shown no sign of overload.
      public var rate: Double?
      /// Requests per second that the target processed, on average of its last requests.
      public var deliveredPerSecond: Double?
      /// Why the rate changed last. `noOverload`: there was no sign of overload yet, or none for long. `recovered`:
      /// the target works again after an outage. `grew`: it took all that it got. `refused`: it refused requests, or
      /// did not answer them in time. `queued`: it answered the slower the more it got. `notLoad`: a lower rate did
      /// not help, so a higher one is tried, or the signs were not caused by load.
      public var reason: Reason?
      /// When the rate changed last; null if it never has.
      public var changedAt: Date?

      private enum CodingKeys: String, CodingKey { case mode, rate, deliveredPerSecond, reason, changedAt }

      /// Reads it from the service's JSON.
      public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        mode = try members.decode(Mode.self, forKey: .mode)
        rate = try members.decodeIfPresent(Double.self, forKey: .rate)
        deliveredPerSecond = try members.decodeIfPresent(Double.self, forKey: .deliveredPerSecond)
        reason = try members.decodeIfPresent(Reason.self, forKey: .reason)
        changedAt = try members.decodeIfPresent(WireInstant.self, forKey: .changedAt).map { $0.date }
      }

      /// Writes it as the service does.
      public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(mode, forKey: .mode)
        try members.encodeIfPresent(rate, forKey: .rate)
        try members.encodeIfPresent(deliveredPerSecond, forKey: .deliveredPerSecond)
        try members.encodeIfPresent(reason, forKey: .reason)
        try members.encodeIfPresent(changedAt.map { WireInstant($0) }, forKey: .changedAt)
      }

      /// Whether it is adapted to what the target can take.
      public struct Mode: RedialWord {
        /// The word.
        public let rawValue: String
        /// A value with that word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// `fixed`.
        public static let fixed = Mode(rawValue: "fixed")
        /// `adaptive`.
        public static let adaptive = Mode(rawValue: "adaptive")
      }

      /// Why the rate changed last. `noOverload`: there was no sign of overload yet, or none for long. `recovered`:
      /// the target works again after an outage. `grew`: it took all that it got. `refused`: it refused requests, or
      /// did not answer them in time. `queued`: it answered the slower the more it got. `notLoad`: a lower rate did
      /// not help, so a higher one is tried, or the signs were not caused by load.
      public struct Reason: RedialWord {
        /// The word.
        public let rawValue: String
        /// A value with that word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// `noOverload`.
        public static let noOverload = Reason(rawValue: "noOverload")
        /// `recovered`.
        public static let recovered = Reason(rawValue: "recovered")
        /// `grew`.
        public static let grew = Reason(rawValue: "grew")
        /// `refused`.
        public static let refused = Reason(rawValue: "refused")
        /// `queued`.
        public static let queued = Reason(rawValue: "queued")
        /// `notLoad`.
        public static let notLoad = Reason(rawValue: "notLoad")
      }
    }

    /// The calls that have not run yet, due or not, counted by their wait reason.
    public struct Backlog: Sendable, Hashable, Codable {
      /// `total`.
      public var total: Int
      /// False if more wait in the store than are counted: 10,000 for their time and 10,000 for their turn.
      public var isComplete: Bool
      /// Calls in the store whose own time has not come count for that time, such as `backoff`, also while the target
      /// is paused or its breaker is open. `GET /v1/calls?waitingOn=` lists each call under the reason that it shows.
      public var byReason: [String: Int]
    }

    /// The results of the attempts of the last minutes, without those that were aborted by a cancel or a stop. Old
    /// attempts are forgotten in steps of ten seconds, in the longer windows of a minute. Not kept over a restart.
    public struct Recent: Sendable, Hashable, Codable {
      /// `1m`.
      public var recent1m: RedialAPI.RecentAttempts
      /// `5m`.
      public var recent5m: RedialAPI.RecentAttempts
      /// `15m`.
      public var recent15m: RedialAPI.RecentAttempts

      private enum CodingKeys: String, CodingKey { case recent1m = "1m", recent5m = "5m", recent15m = "15m" }

      /// Reads it from the service's JSON.
      public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        recent1m = try members.decode(RedialAPI.RecentAttempts.self, forKey: .recent1m)
        recent5m = try members.decode(RedialAPI.RecentAttempts.self, forKey: .recent5m)
        recent15m = try members.decode(RedialAPI.RecentAttempts.self, forKey: .recent15m)
      }

      /// Writes it as the service does.
      public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(recent1m, forKey: .recent1m)
        try members.encode(recent5m, forKey: .recent5m)
        try members.encode(recent15m, forKey: .recent15m)
      }
    }
  }
}

extension RedialAPI {
  /// `RecentAttempts` of the contract.
  public struct RecentAttempts: Sendable, Hashable, Codable {
    /// Attempts after which their call succeeded.
    public var succeeded: Int
    /// Attempts after which it did not.
    public var failed: Int
    /// The latency that this percentage of attempts did not exceed, within a fifth; null without attempts.
    public var latency: RedialAPI.AttemptLatency?

    private enum CodingKeys: String, CodingKey { case succeeded, failed, latency }

    /// Reads it from the service's JSON.
    public init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: CodingKeys.self)
      succeeded = try members.decode(Int.self, forKey: .succeeded)
      failed = try members.decode(Int.self, forKey: .failed)
      latency = try members.decodeIfPresent(RedialAPI.AttemptLatency.self, forKey: .latency)
    }

    /// Writes it as the service does.
    public func encode(to encoder: any Encoder) throws {
      var members = encoder.container(keyedBy: CodingKeys.self)
      try members.encode(succeeded, forKey: .succeeded)
      try members.encode(failed, forKey: .failed)
      try members.encode(latency, forKey: .latency)
    }
  }
}

extension RedialAPI {
  /// Limits of a target. Members that are left out follow the service's settings.
  public struct TargetSettings: Sendable, Hashable, Codable {
    /// When the circuit breaker opens, and how it closes again.
    public var breaker: Breaker?
    /// Maximum attempts in flight.
    public var maxInFlight: Int?
    /// How many attempts may start per second.
    public var rate: Rate?
    /// Retries beyond it wait.
    public var retryBudget: RetryBudget?
    /// How fast attempts start: `adaptive`, as fast as the target can take them within its other limits, or
    /// `fixed`, as fast as these allow.
    public var pace: Pace?
    /// The share of the attempts that new calls get while a backlog waits too; what they do not use goes to the
    /// backlog. 0: all calls start by age.
    public var newCallShare: Double?
    /// With a fixed pace: after the breaker closes, the attempts in flight may grow to the maximum over this time.
    public var slowStart: Duration?
    /// Maximum duration of an attempt, whatever the policy says.
    public var attemptTimeout: Duration?
    /// Whether its new calls are sensitive, whatever they say; those that it has stay as they are.
    public var sensitive: Bool?
    /// JSON Pointers to members of JSON bodies that nobody sees of its new calls, besides those that they name; see
    /// `redact` in a call.
    public var redact: [String]?
    /// How the target and Redial prove who they are. Files are named by absolute paths on Redial's machine, within
    /// the directory in the setting `tlsDirectory`. Any other path is refused without looking at the file; without
    /// the setting, every path is. Files are read when a connection is made; their content is neither stored nor
    /// shown.
    ///
    /// All of it applies only to the `origins`. Pins, certificate authorities and the version apply to every
    /// request to these origins, whatever target the call names. The client certificate is sent by calls to this
    /// target, or, if the target is the origin itself, by every call to it; never after a redirect from another
    /// origin.
    public var tls: Tls?
    /// The name of the credential of calls that name none. Calls to origins that it does not list go without.
    public var credential: String?
    /// How calls are signed that do not say it: the name of a credential, or an object, whose secrets are not
    /// shown.
    public var sign: RedialJSON?

    /// Creates one; what is left out is not sent.
    public init(
      breaker: Breaker? = nil, maxInFlight: Int? = nil, rate: Rate? = nil, retryBudget: RetryBudget? = nil,
      pace: Pace? = nil, newCallShare: Double? = nil, slowStart: Duration? = nil, attemptTimeout: Duration? = nil,
      sensitive: Bool? = nil, redact: [String]? = nil, tls: Tls? = nil, credential: String? = nil,
      sign: RedialJSON? = nil
    ) {
      self.breaker = breaker
      self.maxInFlight = maxInFlight
      self.rate = rate
      self.retryBudget = retryBudget
      self.pace = pace
      self.newCallShare = newCallShare
      self.slowStart = slowStart
      self.attemptTimeout = attemptTimeout
      self.sensitive = sensitive
      self.redact = redact
      self.tls = tls
      self.credential = credential
      self.sign = sign
    }

    private enum CodingKeys: String, CodingKey {
      case breaker, maxInFlight, rate, retryBudget, pace, newCallShare, slowStart, attemptTimeout, sensitive, redact,
        tls, credential, sign
    }

    /// Reads it from the service's JSON.
    public init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: CodingKeys.self)
      breaker = try members.decodeIfPresent(Breaker.self, forKey: .breaker)
      maxInFlight = try members.decodeIfPresent(Int.self, forKey: .maxInFlight)
      rate = try members.decodeIfPresent(Rate.self, forKey: .rate)
      retryBudget = try members.decodeIfPresent(RetryBudget.self, forKey: .retryBudget)
      pace = try members.decodeIfPresent(Pace.self, forKey: .pace)
      newCallShare = try members.decodeIfPresent(Double.self, forKey: .newCallShare)
      slowStart = try members.decodeIfPresent(WireSpan.self, forKey: .slowStart).map { $0.duration }
      attemptTimeout = try members.decodeIfPresent(WireSpan.self, forKey: .attemptTimeout).map { $0.duration }
      sensitive = try members.decodeIfPresent(Bool.self, forKey: .sensitive)
      redact = try members.decodeIfPresent([String].self, forKey: .redact)
      tls = try members.decodeIfPresent(Tls.self, forKey: .tls)
      credential = try members.decodeIfPresent(String.self, forKey: .credential)
      sign = try members.decodeIfPresent(RedialJSON.self, forKey: .sign)
    }

    /// Writes it as the service does.
    public func encode(to encoder: any Encoder) throws {
      var members = encoder.container(keyedBy: CodingKeys.self)
      try members.encodeIfPresent(breaker, forKey: .breaker)
      try members.encodeIfPresent(maxInFlight, forKey: .maxInFlight)
      try members.encodeIfPresent(rate, forKey: .rate)
      try members.encodeIfPresent(retryBudget, forKey: .retryBudget)
      try members.encodeIfPresent(pace, forKey: .pace)
      try members.encodeIfPresent(newCallShare, forKey: .newCallShare)
      try members.encodeIfPresent(slowStart.map { WireSpan($0) }, forKey: .slowStart)
      try members.encodeIfPresent(attemptTimeout.map { WireSpan($0) }, forKey: .attemptTimeout)
      try members.encodeIfPresent(sensitive, forKey: .sensitive)
      try members.encodeIfPresent(redact, forKey: .redact)
      try members.encodeIfPresent(tls, forKey: .tls)
      try members.encodeIfPresent(credential, forKey: .credential)
      try members.encodeIfPresent(sign, forKey: .sign)
    }

    /// When the circuit breaker opens, and how it closes again.
    public struct Breaker: Sendable, Hashable, Codable {
      /// Least failures in a row that open it; 0 turns this rule off. Failures of one call count once, and those of
      /// attempts that began before one that has succeeded do not count.
      public var consecutiveFailures: Int?
      /// A run of failures opens it only if it comes by chance with this probability at most, at the share of
      /// failures that is usual for the target. 1 opens it at each run.
      public var significance: Double?
      /// Least time that a run of failures lasts before it opens. Twice the usual response time is added, unless it
      /// is `0s`.
      public var failureTime: Duration?
      /// Failure rate in the window that opens it; 0 turns this rule off.
      public var failureRate: Double?
      /// The window of the failure rate.
      public var window: Duration?
      /// Least attempts in the window for the failure rate to count.
      public var minCalls: Int?
      /// How long it is open the first time; each time longer until a probe succeeds.
      public var openInterval: Duration?
      /// The longest time for which it is open.
      public var maxOpenInterval: Duration?
      /// Maximum attempts in flight while it is half-open, without those that go beside one that hangs, one in 2 s.
      public var probes: Int?

      /// Creates one; what is left out is not sent.
      public init(
        consecutiveFailures: Int? = nil, significance: Double? = nil, failureTime: Duration? = nil,
        failureRate: Double? = nil, window: Duration? = nil, minCalls: Int? = nil, openInterval: Duration? = nil,
        maxOpenInterval: Duration? = nil, probes: Int? = nil
      ) {
        self.consecutiveFailures = consecutiveFailures
        self.significance = significance
        self.failureTime = failureTime
        self.failureRate = failureRate
        self.window = window
        self.minCalls = minCalls
        self.openInterval = openInterval
        self.maxOpenInterval = maxOpenInterval
        self.probes = probes
      }

      private enum CodingKeys: String, CodingKey {
        case consecutiveFailures, significance, failureTime, failureRate, window, minCalls, openInterval,
          maxOpenInterval, probes
      }

      /// Reads it from the service's JSON.
      public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        consecutiveFailures = try members.decodeIfPresent(Int.self, forKey: .consecutiveFailures)
        significance = try members.decodeIfPresent(Double.self, forKey: .significance)
        failureTime = try members.decodeIfPresent(WireSpan.self, forKey: .failureTime).map { $0.duration }
        failureRate = try members.decodeIfPresent(Double.self, forKey: .failureRate)
        window = try members.decodeIfPresent(WireSpan.self, forKey: .window).map { $0.duration }
        minCalls = try members.decodeIfPresent(Int.self, forKey: .minCalls)
        openInterval = try members.decodeIfPresent(WireSpan.self, forKey: .openInterval).map { $0.duration }
        maxOpenInterval = try members.decodeIfPresent(WireSpan.self, forKey: .maxOpenInterval).map { $0.duration }
        probes = try members.decodeIfPresent(Int.self, forKey: .probes)
      }

      /// Writes it as the service does.
      public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encodeIfPresent(consecutiveFailures, forKey: .consecutiveFailures)
        try members.encodeIfPresent(significance, forKey: .significance)
        try members.encodeIfPresent(failureTime.map { WireSpan($0) }, forKey: .failureTime)
        try members.encodeIfPresent(failureRate, forKey: .failureRate)
        try members.encodeIfPresent(window.map { WireSpan($0) }, forKey: .window)
        try members.encodeIfPresent(minCalls, forKey: .minCalls)
        try members.encodeIfPresent(openInterval.map { WireSpan($0) }, forKey: .openInterval)
        try members.encodeIfPresent(maxOpenInterval.map { WireSpan($0) }, forKey: .maxOpenInterval)
        try members.encodeIfPresent(probes, forKey: .probes)
      }
    }

    /// How many attempts may start per second.
    public struct Rate: Sendable, Hashable, Codable {
      /// Maximum attempts started per second; null for no limit.
      public var perSecond: Double?
      /// Attempts that may start at once after a quiet time.
      public var burst: Int?

      /// Creates one; what is left out is not sent.
      public init(perSecond: Double? = nil, burst: Int? = nil) {
        self.perSecond = perSecond
        self.burst = burst
      }
    }

    /// Retries beyond it wait.
    public struct RetryBudget: Sendable, Hashable, Codable {
      /// Retries as a share of the first attempts of the last 10 s.
      public var share: Double?
      /// Retries per second in addition to the share; null for no limit on retries.
      public var minPerSecond: Int?

      /// Creates one; what is left out is not sent.
      public init(share: Double? = nil, minPerSecond: Int? = nil) {
        self.share = share
        self.minPerSecond = minPerSecond
      }
    }

    /// How fast attempts start: `adaptive`, as fast as the target can take them within its other limits, or
    /// `fixed`, as fast as these allow.
    public struct Pace: RedialWord {
      /// The word.
      public let rawValue: String
      /// A value with that word.
      public init(rawValue: String) { self.rawValue = rawValue }

      /// `fixed`.
      public static let fixed = Pace(rawValue: "fixed")
      /// `adaptive`.
      public static let adaptive = Pace(rawValue: "adaptive")
    }

    /// How the target and Redial prove who they are. Files are named by absolute paths on Redial's machine, within
    /// the directory in the setting `tlsDirectory`. Any other path is refused without looking at the file; without
    /// the setting, every path is. Files are read when a connection is made; their content is neither stored nor
    /// shown.
    ///
    /// All of it applies only to the `origins`. Pins, certificate authorities and the version apply to every
    /// request to these origins, whatever target the call names. The client certificate is sent by calls to this
    /// target, or, if the target is the origin itself, by every call to it; never after a redirect from another
    /// origin.
    public struct Tls: Sendable, Hashable, Codable {
      /// Redial's client certificate, in PEM, followed by those of its issuers.
      public var certificate: String?
      /// The certificate's private key, in PEM, unless it is in the certificate's file.
      public var key: String?
      /// Certificate authorities, in PEM, that are trusted for this target, and no others.
      public var caFile: String?
      /// SHA-256 digests of public keys, in base 64. The target must have one of these keys.
      public var pins: [String]?
      /// Oldest allowed version of TLS.
      public var minVersion: MinVersion?
      /// The origins that all of it applies to. Required, unless the target's key is an origin as in URLs: then it
      /// applies to that one.
      public var origins: [String]?

      /// Creates one; what is left out is not sent.
      public init(
        certificate: String? = nil, key: String? = nil, caFile: String? = nil, pins: [String]? = nil,
        minVersion: MinVersion? = nil, origins: [String]? = nil
      ) {
        self.certificate = certificate
        self.key = key
        self.caFile = caFile
        self.pins = pins
        self.minVersion = minVersion
        self.origins = origins
      }

      /// Oldest allowed version of TLS.
      public struct MinVersion: RedialWord {
        /// The word.
        public let rawValue: String
        /// A value with that word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// `1.2`.
        public static let minVersion1_2 = MinVersion(rawValue: "1.2")
        /// `1.3`.
        public static let minVersion1_3 = MinVersion(rawValue: "1.3")
      }
    }
  }
}

extension RedialAPI {
  /// Members of `TargetSettings`, with their ranges. Null removes what was set.
  public struct TargetPatch: Sendable, Hashable, Encodable {
    /// When the circuit breaker opens, and how it closes again.
    public var breaker: RedialNullable<Breaker>
    /// Maximum attempts in flight.
    public var maxInFlight: RedialNullable<Int>
    /// How many attempts may start per second.
    public var rate: RedialNullable<Rate>
    /// Retries beyond it wait.
    public var retryBudget: RedialNullable<RetryBudget>
    /// How fast attempts start: `adaptive`, as fast as the target can take them within its other limits, or
    /// `fixed`, as fast as these allow.
    public var pace: RedialNullable<Pace>
    /// The share of the attempts that new calls get while a backlog waits too; what they do not use goes to the
    /// backlog. 0: all calls start by age.
    public var newCallShare: RedialNullable<Double>
    /// With a fixed pace: after the breaker closes, the attempts in flight may grow to the maximum over this time.
    public var slowStart: RedialNullable<Duration>
    /// Maximum duration of an attempt, whatever the policy says.
    public var attemptTimeout: RedialNullable<Duration>
    /// Whether its new calls are sensitive, whatever they say; those that it has stay as they are.
    public var sensitive: RedialNullable<Bool>
    /// JSON Pointers to members of JSON bodies that nobody sees of its new calls, besides those that they name; see
    /// `redact` in a call.
    public var redact: RedialNullable<[String]>
    /// How the target and Redial prove who they are. Files are named by absolute paths on Redial's machine, within
    /// the directory in the setting `tlsDirectory`. Any other path is refused without looking at the file; without
    /// the setting, every path is. Files are read when a connection is made; their content is neither stored nor
    /// shown.
    ///
    /// All of it applies only to the `origins`. Pins, certificate authorities and the version apply to every
    /// request to these origins, whatever target the call names. The client certificate is sent by calls to this
    /// target, or, if the target is the origin itself, by every call to it; never after a redirect from another
    /// origin.
    public var tls: RedialNullable<Tls>
    /// The name of the credential of calls that name none. Calls to origins that it does not list go without.
    public var credential: RedialNullable<String>
    /// How calls are signed that do not say it: the name of a credential, or an object, whose secrets are not
    /// shown.
    public var sign: RedialNullable<RedialJSON>

    /// Creates one; what is left out is not sent.
    public init(
      breaker: RedialNullable<Breaker> = .absent, maxInFlight: RedialNullable<Int> = .absent,
      rate: RedialNullable<Rate> = .absent, retryBudget: RedialNullable<RetryBudget> = .absent,
      pace: RedialNullable<Pace> = .absent, newCallShare: RedialNullable<Double> = .absent,
      slowStart: RedialNullable<Duration> = .absent, attemptTimeout: RedialNullable<Duration> = .absent,
      sensitive: RedialNullable<Bool> = .absent, redact: RedialNullable<[String]> = .absent,
      tls: RedialNullable<Tls> = .absent, credential: RedialNullable<String> = .absent,
      sign: RedialNullable<RedialJSON> = .absent
    ) {
      self.breaker = breaker
      self.maxInFlight = maxInFlight
      self.rate = rate
      self.retryBudget = retryBudget
      self.pace = pace
      self.newCallShare = newCallShare
      self.slowStart = slowStart
      self.attemptTimeout = attemptTimeout
      self.sensitive = sensitive
      self.redact = redact
      self.tls = tls
      self.credential = credential
      self.sign = sign
    }

    private enum CodingKeys: String, CodingKey {
      case breaker, maxInFlight, rate, retryBudget, pace, newCallShare, slowStart, attemptTimeout, sensitive, redact,
        tls, credential, sign
    }

    /// Writes it as the service does.
    public func encode(to encoder: any Encoder) throws {
      var members = encoder.container(keyedBy: CodingKeys.self)
      try members.encodeNullable(breaker, forKey: .breaker)
      try members.encodeNullable(maxInFlight, forKey: .maxInFlight)
      try members.encodeNullable(rate, forKey: .rate)
      try members.encodeNullable(retryBudget, forKey: .retryBudget)
      try members.encodeNullable(pace, forKey: .pace)
      try members.encodeNullable(newCallShare, forKey: .newCallShare)
      try members.encodeNullable(slowStart.map { WireSpan($0) }, forKey: .slowStart)
      try members.encodeNullable(attemptTimeout.map { WireSpan($0) }, forKey: .attemptTimeout)
      try members.encodeNullable(sensitive, forKey: .sensitive)
      try members.encodeNullable(redact, forKey: .redact)
      try members.encodeNullable(tls, forKey: .tls)
      try members.encodeNullable(credential, forKey: .credential)
      try members.encodeNullable(sign, forKey: .sign)
    }

    /// When the circuit breaker opens, and how it closes again.
    public struct Breaker: Sendable, Hashable, Encodable {
      /// Least failures in a row that open it; 0 turns this rule off. Failures of one call count once, and those of
      /// attempts that began before one that has succeeded do not count.
      public var consecutiveFailures: RedialNullable<Int>
      /// A run of failures opens it only if it comes by chance with this probability at most, at the share of
      /// failures that is usual for the target. 1 opens it at each run.
      public var significance: RedialNullable<Double>
      /// Least time that a run of failures lasts before it opens. Twice the usual response time is added, unless it
      /// is `0s`.
      public var failureTime: RedialNullable<Duration>
      /// Failure rate in the window that opens it; 0 turns this rule off.
      public var failureRate: RedialNullable<Double>
      /// The window of the failure rate.
      public var window: RedialNullable<Duration>
      /// Least attempts in the window for the failure rate to count.
      public var minCalls: RedialNullable<Int>
      /// How long it is open the first time; each time longer until a probe succeeds.
      public var openInterval: RedialNullable<Duration>
      /// The longest time for which it is open.
      public var maxOpenInterval: RedialNullable<Duration>
      /// Maximum attempts in flight while it is half-open, without those that go beside one that hangs, one in 2 s.
      public var probes: RedialNullable<Int>

      /// Creates one; what is left out is not sent.
      public init(
        consecutiveFailures: RedialNullable<Int> = .absent, significance: RedialNullable<Double> = .absent,
        failureTime: RedialNullable<Duration> = .absent, failureRate: RedialNullable<Double> = .absent,
        window: RedialNullable<Duration> = .absent, minCalls: RedialNullable<Int> = .absent,
        openInterval: RedialNullable<Duration> = .absent, maxOpenInterval: RedialNullable<Duration> = .absent,
        probes: RedialNullable<Int> = .absent
      ) {
        self.consecutiveFailures = consecutiveFailures
        self.significance = significance
        self.failureTime = failureTime
        self.failureRate = failureRate
        self.window = window
        self.minCalls = minCalls
        self.openInterval = openInterval
        self.maxOpenInterval = maxOpenInterval
        self.probes = probes
      }

      private enum CodingKeys: String, CodingKey {
        case consecutiveFailures, significance, failureTime, failureRate, window, minCalls, openInterval,
          maxOpenInterval, probes
      }

      /// Writes it as the service does.
      public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encodeNullable(consecutiveFailures, forKey: .consecutiveFailures)
        try members.encodeNullable(significance, forKey: .significance)
        try members.encodeNullable(failureTime.map { WireSpan($0) }, forKey: .failureTime)
        try members.encodeNullable(failureRate, forKey: .failureRate)
        try members.encodeNullable(window.map { WireSpan($0) }, forKey: .window)
        try members.encodeNullable(minCalls, forKey: .minCalls)
        try members.encodeNullable(openInterval.map { WireSpan($0) }, forKey: .openInterval)
        try members.encodeNullable(maxOpenInterval.map { WireSpan($0) }, forKey: .maxOpenInterval)
        try members.encodeNullable(probes, forKey: .probes)
      }
    }

    /// How many attempts may start per second.
    public struct Rate: Sendable, Hashable, Encodable {
      /// Maximum attempts started per second; null for no limit.
      public var perSecond: RedialNullable<Double>
      /// Attempts that may start at once after a quiet time.
      public var burst: RedialNullable<Int>

      /// Creates one; what is left out is not sent.
      public init(perSecond: RedialNullable<Double> = .absent, burst: RedialNullable<Int> = .absent) {
        self.perSecond = perSecond
        self.burst = burst
      }

      private enum CodingKeys: String, CodingKey { case perSecond, burst }

      /// Writes it as the service does.
      public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encodeNullable(perSecond, forKey: .perSecond)
        try members.encodeNullable(burst, forKey: .burst)
      }
    }

    /// Retries beyond it wait.
    public struct RetryBudget: Sendable, Hashable, Encodable {
      /// Retries as a share of the first attempts of the last 10 s.
      public var share: RedialNullable<Double>
      /// Retries per second in addition to the share; null for no limit on retries.
      public var minPerSecond: RedialNullable<Int>

      /// Creates one; what is left out is not sent.
      public init(share: RedialNullable<Double> = .absent, minPerSecond: RedialNullable<Int> = .absent) {
        self.share = share
        self.minPerSecond = minPerSecond
      }

      private enum CodingKeys: String, CodingKey { case share, minPerSecond }

      /// Writes it as the service does.
      public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encodeNullable(share, forKey: .share)
        try members.encodeNullable(minPerSecond, forKey: .minPerSecond)
      }
    }

    /// How fast attempts start: `adaptive`, as fast as the target can take them within its other limits, or
    /// `fixed`, as fast as these allow.
    public struct Pace: RedialWord {
      /// The word.
      public let rawValue: String
      /// A value with that word.
      public init(rawValue: String) { self.rawValue = rawValue }

      /// `fixed`.
      public static let fixed = Pace(rawValue: "fixed")
      /// `adaptive`.
      public static let adaptive = Pace(rawValue: "adaptive")
    }

    /// How the target and Redial prove who they are. Files are named by absolute paths on Redial's machine, within
    /// the directory in the setting `tlsDirectory`. Any other path is refused without looking at the file; without
    /// the setting, every path is. Files are read when a connection is made; their content is neither stored nor
    /// shown.
    ///
    /// All of it applies only to the `origins`. Pins, certificate authorities and the version apply to every
    /// request to these origins, whatever target the call names. The client certificate is sent by calls to this
    /// target, or, if the target is the origin itself, by every call to it; never after a redirect from another
    /// origin.
    public struct Tls: Sendable, Hashable, Encodable {
      /// Redial's client certificate, in PEM, followed by those of its issuers.
      public var certificate: RedialNullable<String>
      /// The certificate's private key, in PEM, unless it is in the certificate's file.
      public var key: RedialNullable<String>
      /// Certificate authorities, in PEM, that are trusted for this target, and no others.
      public var caFile: RedialNullable<String>
      /// SHA-256 digests of public keys, in base 64. The target must have one of these keys.
      public var pins: RedialNullable<[String]>
      /// Oldest allowed version of TLS.
      public var minVersion: RedialNullable<MinVersion>
      /// The origins that all of it applies to. Required, unless the target's key is an origin as in URLs: then it
      /// applies to that one.
      public var origins: RedialNullable<[String]>

      /// Creates one; what is left out is not sent.
      public init(
        certificate: RedialNullable<String> = .absent, key: RedialNullable<String> = .absent,
        caFile: RedialNullable<String> = .absent, pins: RedialNullable<[String]> = .absent,
        minVersion: RedialNullable<MinVersion> = .absent, origins: RedialNullable<[String]> = .absent
      ) {
        self.certificate = certificate
        self.key = key
        self.caFile = caFile
        self.pins = pins
        self.minVersion = minVersion
        self.origins = origins
      }

      private enum CodingKeys: String, CodingKey { case certificate, key, caFile, pins, minVersion, origins }

      /// Writes it as the service does.
      public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encodeNullable(certificate, forKey: .certificate)
        try members.encodeNullable(key, forKey: .key)
        try members.encodeNullable(caFile, forKey: .caFile)
        try members.encodeNullable(pins, forKey: .pins)
        try members.encodeNullable(minVersion, forKey: .minVersion)
        try members.encodeNullable(origins, forKey: .origins)
      }

      /// Oldest allowed version of TLS.
      public struct MinVersion: RedialWord {
        /// The word.
        public let rawValue: String
        /// A value with that word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// `1.2`.
        public static let minVersion1_2 = MinVersion(rawValue: "1.2")
        /// `1.3`.
        public static let minVersion1_3 = MinVersion(rawValue: "1.3")
      }
    }
  }
}

extension RedialAPI {
  /// How a call has ended, for a callback.
  public struct CallEvent: RedialWord {
    /// The word.
    public let rawValue: String
    /// A value with that word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// `call.succeeded`.
    public static let callSucceeded = CallEvent(rawValue: "call.succeeded")
    /// `call.failed`.
    public static let callFailed = CallEvent(rawValue: "call.failed")
    /// `call.tripped`.
    public static let callTripped = CallEvent(rawValue: "call.tripped")
  }
}

extension RedialAPI {
  /// The events that an endpoint can get.
  public struct WebhookEventType: RedialWord {
    /// The word.
    public let rawValue: String
    /// A value with that word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// `call.succeeded`.
    public static let callSucceeded = WebhookEventType(rawValue: "call.succeeded")
    /// `call.failed`.
    public static let callFailed = WebhookEventType(rawValue: "call.failed")
    /// `call.tripped`.
    public static let callTripped = WebhookEventType(rawValue: "call.tripped")
    /// `call.cancelled`.
    public static let callCancelled = WebhookEventType(rawValue: "call.cancelled")
    /// `target.opened`.
    public static let targetOpened = WebhookEventType(rawValue: "target.opened")
    /// `target.halfOpened`.
    public static let targetHalfOpened = WebhookEventType(rawValue: "target.halfOpened")
    /// `target.closed`.
    public static let targetClosed = WebhookEventType(rawValue: "target.closed")
    /// `target.down`.
    public static let targetDown = WebhookEventType(rawValue: "target.down")
    /// `target.recovered`.
    public static let targetRecovered = WebhookEventType(rawValue: "target.recovered")
    /// `target.controlled`.
    public static let targetControlled = WebhookEventType(rawValue: "target.controlled")
    /// `endpoint.disabled`.
    public static let endpointDisabled = WebhookEventType(rawValue: "endpoint.disabled")
  }
}

extension RedialAPI {
  /// What a client says about a webhook endpoint.
  public struct WebhookEndpointDraft: Sendable, Hashable, Encodable {
    /// Where its webhooks are sent; absolute, http or https, and allowed by the egress policy. A `PUT` with the URL
    /// as it is shown leaves the URL as it is.
    public var url: String
    /// A name for people.
    public var description: String?
    /// The events that it gets; all by default.
    public var events: [RedialAPI.WebhookEventType]?
    /// If not empty, only events of these targets, and of calls to them.
    public var targets: [String]?
    /// Whether it gets webhooks.
    public var enabled: Bool?

    /// Creates one; what is left out is not sent.
    public init(
      url: String, description: String? = nil, events: [RedialAPI.WebhookEventType]? = nil, targets: [String]? = nil,
      enabled: Bool? = nil
    ) {
      self.url = url
      self.description = description
      self.events = events
      self.targets = targets
      self.enabled = enabled
    }
  }
}

extension RedialAPI {
  /// `WebhookEndpoint` of the contract.
  public struct WebhookEndpoint: Sendable, Hashable, Codable, Identifiable {
    /// `id`.
    public var id: String
    /// Without the values of secret parameters (`redactParameters`).
    public var url: String
    /// `description`.
    public var description: String
    /// `events`.
    public var events: [RedialAPI.WebhookEventType]
    /// `targets`.
    public var targets: [String]
    /// `createdAt`.
    public var createdAt: Date
    /// `enabled`.
    public var enabled: Bool
    /// Why it gets no webhooks.
    public var disabledReason: DisabledReason?
    /// `disabledAt`.
    public var disabledAt: Date?
    /// Since when all deliveries have failed.
    public var failingSince: Date?
    /// The secrets that sign its webhooks, newest first.
    public var secrets: [Secret]

    private enum CodingKeys: String, CodingKey {
      case id, url, description, events, targets, createdAt, enabled, disabledReason, disabledAt, failingSince, secrets
    }

    /// Reads it from the service's JSON.
    public init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: CodingKeys.self)
      id = try members.decode(String.self, forKey: .id)
      url = try members.decode(String.self, forKey: .url)
      description = try members.decode(String.self, forKey: .description)
      events = try members.decode([RedialAPI.WebhookEventType].self, forKey: .events)
      targets = try members.decode([String].self, forKey: .targets)
      createdAt = try members.decode(WireInstant.self, forKey: .createdAt).date
      enabled = try members.decode(Bool.self, forKey: .enabled)
      disabledReason = try members.decodeIfPresent(DisabledReason.self, forKey: .disabledReason)
      disabledAt = try members.decodeIfPresent(WireInstant.self, forKey: .disabledAt).map { $0.date }
      failingSince = try members.decodeIfPresent(WireInstant.self, forKey: .failingSince).map { $0.date }
      secrets = try members.decode([Secret].self, forKey: .secrets)
    }

    /// Writes it as the service does.
    public func encode(to encoder: any Encoder) throws {
      var members = encoder.container(keyedBy: CodingKeys.self)
      try members.encode(id, forKey: .id)
      try members.encode(url, forKey: .url)
      try members.encode(description, forKey: .description)
      try members.encode(events, forKey: .events)
      try members.encode(targets, forKey: .targets)
      try members.encode(WireInstant(createdAt), forKey: .createdAt)
      try members.encode(enabled, forKey: .enabled)
      try members.encode(disabledReason, forKey: .disabledReason)
      try members.encode(disabledAt.map { WireInstant($0) }, forKey: .disabledAt)
      try members.encode(failingSince.map { WireInstant($0) }, forKey: .failingSince)
      try members.encode(secrets, forKey: .secrets)
    }

    /// Why it gets no webhooks.
    public struct DisabledReason: RedialWord {
      /// The word.
      public let rawValue: String
      /// A value with that word.
      public init(rawValue: String) { self.rawValue = rawValue }

      /// `byRequest`.
      public static let byRequest = DisabledReason(rawValue: "byRequest")
      /// `failing`.
      public static let failing = DisabledReason(rawValue: "failing")
      /// `gone`.
      public static let gone = DisabledReason(rawValue: "gone")
    }

    /// `Secret` of the contract.
    public struct Secret: Sendable, Hashable, Codable, Identifiable {
      /// `id`.
      public var id: String
      /// `createdAt`.
      public var createdAt: Date
      /// Until when it signs; null for the newest.
      public var expiresAt: Date?

      private enum CodingKeys: String, CodingKey { case id, createdAt, expiresAt }

      /// Reads it from the service's JSON.
      public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        id = try members.decode(String.self, forKey: .id)
        createdAt = try members.decode(WireInstant.self, forKey: .createdAt).date
        expiresAt = try members.decodeIfPresent(WireInstant.self, forKey: .expiresAt).map { $0.date }
      }

      /// Writes it as the service does.
      public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(id, forKey: .id)
        try members.encode(WireInstant(createdAt), forKey: .createdAt)
        try members.encode(expiresAt.map { WireInstant($0) }, forKey: .expiresAt)
      }
    }
  }
}

extension RedialAPI {
  /// `WebhookEndpointWithSecret` of the contract.
  public struct WebhookEndpointWithSecret: Sendable, Hashable, Codable, Identifiable {
    /// `id`.
    public var id: String
    /// Without the values of secret parameters (`redactParameters`).
    public var url: String
    /// `description`.
    public var description: String
    /// `events`.
    public var events: [RedialAPI.WebhookEventType]
    /// `targets`.
    public var targets: [String]
    /// `createdAt`.
    public var createdAt: Date
    /// `enabled`.
    public var enabled: Bool
    /// Why it gets no webhooks.
    public var disabledReason: DisabledReason?
    /// `disabledAt`.
    public var disabledAt: Date?
    /// Since when all deliveries have failed.
    public var failingSince: Date?
    /// The secrets that sign its webhooks, newest first.
    public var secrets: [Secret]
    /// The newest secret. It is not shown again.
    public var secret: String

    private enum CodingKeys: String, CodingKey {
      case id, url, description, events, targets, createdAt, enabled, disabledReason, disabledAt, failingSince, secrets,
        secret
    }

    /// Reads it from the service's JSON.
    public init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: CodingKeys.self)
      id = try members.decode(String.self, forKey: .id)
      url = try members.decode(String.self, forKey: .url)
      description = try members.decode(String.self, forKey: .description)
      events = try members.decode([RedialAPI.WebhookEventType].self, forKey: .events)
      targets = try members.decode([String].self, forKey: .targets)
      createdAt = try members.decode(WireInstant.self, forKey: .createdAt).date
      enabled = try members.decode(Bool.self, forKey: .enabled)
      disabledReason = try members.decodeIfPresent(DisabledReason.self, forKey: .disabledReason)
      disabledAt = try members.decodeIfPresent(WireInstant.self, forKey: .disabledAt).map { $0.date }
      failingSince = try members.decodeIfPresent(WireInstant.self, forKey: .failingSince).map { $0.date }
      secrets = try members.decode([Secret].self, forKey: .secrets)
      secret = try members.decode(String.self, forKey: .secret)
    }

    /// Writes it as the service does.
    public func encode(to encoder: any Encoder) throws {
      var members = encoder.container(keyedBy: CodingKeys.self)
      try members.encode(id, forKey: .id)
      try members.encode(url, forKey: .url)
      try members.encode(description, forKey: .description)
      try members.encode(events, forKey: .events)
      try members.encode(targets, forKey: .targets)
      try members.encode(WireInstant(createdAt), forKey: .createdAt)
      try members.encode(enabled, forKey: .enabled)
      try members.encode(disabledReason, forKey: .disabledReason)
      try members.encode(disabledAt.map { WireInstant($0) }, forKey: .disabledAt)
      try members.encode(failingSince.map { WireInstant($0) }, forKey: .failingSince)
      try members.encode(secrets, forKey: .secrets)
      try members.encode(secret, forKey: .secret)
    }

    /// Why it gets no webhooks.
    public struct DisabledReason: RedialWord {
      /// The word.
      public let rawValue: String
      /// A value with that word.
      public init(rawValue: String) { self.rawValue = rawValue }

      /// `byRequest`.
      public static let byRequest = DisabledReason(rawValue: "byRequest")
      /// `failing`.
      public static let failing = DisabledReason(rawValue: "failing")
      /// `gone`.
      public static let gone = DisabledReason(rawValue: "gone")
    }

    /// `Secret` of the contract.
    public struct Secret: Sendable, Hashable, Codable, Identifiable {
      /// `id`.
      public var id: String
      /// `createdAt`.
      public var createdAt: Date
      /// Until when it signs; null for the newest.
      public var expiresAt: Date?

      private enum CodingKeys: String, CodingKey { case id, createdAt, expiresAt }

      /// Reads it from the service's JSON.
      public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        id = try members.decode(String.self, forKey: .id)
        createdAt = try members.decode(WireInstant.self, forKey: .createdAt).date
        expiresAt = try members.decodeIfPresent(WireInstant.self, forKey: .expiresAt).map { $0.date }
      }

      /// Writes it as the service does.
      public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(id, forKey: .id)
        try members.encode(WireInstant(createdAt), forKey: .createdAt)
        try members.encode(expiresAt.map { WireInstant($0) }, forKey: .expiresAt)
      }
    }
  }
}

extension RedialAPI {
  /// The actions that a key allows. `submit`: submit calls. `read`: read everything except the requests of calls.
  /// `payloads`: read those; with `submit` and `operate`, replay calls with another request. `operate`: act on
  /// calls and targets; with `submit`, replay calls. `metrics`: read the metrics, for keys of the namespace
  /// `default`. `admin`: all of these, and manage API keys and webhook endpoints.
  public struct APIScope: RedialWord {
    /// The word.
    public let rawValue: String
    /// A value with that word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// `submit`.
    public static let submit = APIScope(rawValue: "submit")
    /// `read`.
    public static let read = APIScope(rawValue: "read")
    /// `payloads`.
    public static let payloads = APIScope(rawValue: "payloads")
    /// `operate`.
    public static let operate = APIScope(rawValue: "operate")
    /// `metrics`.
    public static let metrics = APIScope(rawValue: "metrics")
    /// `admin`.
    public static let admin = APIScope(rawValue: "admin")
  }
}

extension RedialAPI {
  /// What a client says about an API key.
  public struct APIKeyDraft: Sendable, Hashable, Encodable {
    /// A name for people.
    public var name: String
    /// What it allows.
    public var scopes: [RedialAPI.APIScope]
    /// Maximum requests per minute; no limit if left out.
    public var quota: Int?
    /// The namespace that a key acts in; by default that of the key that makes it.
    public var namespace: String?

    /// Creates one; what is left out is not sent.
    public init(name: String, scopes: [RedialAPI.APIScope], quota: Int? = nil, namespace: String? = nil) {
      self.name = name
      self.scopes = scopes
      self.quota = quota
      self.namespace = namespace
    }
  }
}

extension RedialAPI {
  /// `APIKey` of the contract.
  public struct APIKey: Sendable, Hashable, Codable, Identifiable {
    /// `id`.
    public var id: String
    /// `name`.
    public var name: String
    /// The namespace that a key acts in; by default that of the key that makes it.
    public var namespace: String
    /// `scopes`.
    public var scopes: [RedialAPI.APIScope]
    /// Maximum requests per minute; null for no limit.
    public var quota: Int?
    /// `createdAt`.
    public var createdAt: Date
    /// `revokedAt`.
    public var revokedAt: Date?

    private enum CodingKeys: String, CodingKey { case id, name, namespace, scopes, quota, createdAt, revokedAt }

    /// Reads it from the service's JSON.
    public init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: CodingKeys.self)
      id = try members.decode(String.self, forKey: .id)
      name = try members.decode(String.self, forKey: .name)
      namespace = try members.decode(String.self, forKey: .namespace)
      scopes = try members.decode([RedialAPI.APIScope].self, forKey: .scopes)
      quota = try members.decodeIfPresent(Int.self, forKey: .quota)
      createdAt = try members.decode(WireInstant.self, forKey: .createdAt).date
      revokedAt = try members.decodeIfPresent(WireInstant.self, forKey: .revokedAt).map { $0.date }
    }

    /// Writes it as the service does.
    public func encode(to encoder: any Encoder) throws {
      var members = encoder.container(keyedBy: CodingKeys.self)
      try members.encode(id, forKey: .id)
      try members.encode(name, forKey: .name)
      try members.encode(namespace, forKey: .namespace)
      try members.encode(scopes, forKey: .scopes)
      try members.encode(quota, forKey: .quota)
      try members.encode(WireInstant(createdAt), forKey: .createdAt)
      try members.encode(revokedAt.map { WireInstant($0) }, forKey: .revokedAt)
    }
  }
}

extension RedialAPI {
  /// `APIKeyWithText` of the contract.
  public struct APIKeyWithText: Sendable, Hashable, Codable, Identifiable {
    /// `id`.
    public var id: String
    /// `name`.
    public var name: String
    /// The namespace that a key acts in; by default that of the key that makes it.
    public var namespace: String
    /// `scopes`.
    public var scopes: [RedialAPI.APIScope]
    /// Maximum requests per minute; null for no limit.
    public var quota: Int?
    /// `createdAt`.
    public var createdAt: Date
    /// `revokedAt`.
    public var revokedAt: Date?
    /// The key itself. It is not shown again.
    public var key: String

    private enum CodingKeys: String, CodingKey { case id, name, namespace, scopes, quota, createdAt, revokedAt, key }

    /// Reads it from the service's JSON.
    public init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: CodingKeys.self)
      id = try members.decode(String.self, forKey: .id)
      name = try members.decode(String.self, forKey: .name)
      namespace = try members.decode(String.self, forKey: .namespace)
      scopes = try members.decode([RedialAPI.APIScope].self, forKey: .scopes)
      quota = try members.decodeIfPresent(Int.self, forKey: .quota)
      createdAt = try members.decode(WireInstant.self, forKey: .createdAt).date
      revokedAt = try members.decodeIfPresent(WireInstant.self, forKey: .revokedAt).map { $0.date }
      key = try members.decode(String.self, forKey: .key)
    }

    /// Writes it as the service does.
    public func encode(to encoder: any Encoder) throws {
      var members = encoder.container(keyedBy: CodingKeys.self)
      try members.encode(id, forKey: .id)
      try members.encode(name, forKey: .name)
      try members.encode(namespace, forKey: .namespace)
      try members.encode(scopes, forKey: .scopes)
      try members.encode(quota, forKey: .quota)
      try members.encode(WireInstant(createdAt), forKey: .createdAt)
      try members.encode(revokedAt.map { WireInstant($0) }, forKey: .revokedAt)
      try members.encode(key, forKey: .key)
    }
  }
}

extension RedialAPI {
  /// Start a bulk operation: one action on all calls that match a filter.
  public struct BulkDryRun: Sendable, Hashable, Codable {
    /// `dryRun`.
    public var dryRun: Bool
    /// `retry`: retry calls that have ended.
    public var action: RedialAPI.BulkAction
    /// The calls to act on: those for which all conditions hold, as for a list.
    public var filter: CallFilter
    /// The calls that met all conditions of `filter`, as it is shown here. At least so many if the count is not
    /// complete.
    public var matched: Int
    /// `isComplete`.
    public var isComplete: Bool
    /// Of the newest matching calls, at most 5,000, those that would be left as they are.
    public var skipped: Skipped
    /// When they met them; `waitingOn` and `nextAttemptBefore` are as of this time.
    public var countedAt: Date

    private enum CodingKeys: String, CodingKey { case dryRun, action, filter, matched, isComplete, skipped, countedAt }

    /// Reads it from the service's JSON.
    public init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: CodingKeys.self)
      dryRun = try members.decode(Bool.self, forKey: .dryRun)
      action = try members.decode(RedialAPI.BulkAction.self, forKey: .action)
      filter = try members.decode(CallFilter.self, forKey: .filter)
      matched = try members.decode(Int.self, forKey: .matched)
      isComplete = try members.decode(Bool.self, forKey: .isComplete)
      skipped = try members.decode(Skipped.self, forKey: .skipped)
      countedAt = try members.decode(WireInstant.self, forKey: .countedAt).date
    }

    /// Writes it as the service does.
    public func encode(to encoder: any Encoder) throws {
      var members = encoder.container(keyedBy: CodingKeys.self)
      try members.encode(dryRun, forKey: .dryRun)
      try members.encode(action, forKey: .action)
      try members.encode(filter, forKey: .filter)
      try members.encode(matched, forKey: .matched)
      try members.encode(isComplete, forKey: .isComplete)
      try members.encode(skipped, forKey: .skipped)
      try members.encode(WireInstant(countedAt), forKey: .countedAt)
    }

    /// Of the newest matching calls, at most 5,000, those that would be left as they are.
    public struct Skipped: Sendable, Hashable, Codable {
      /// `calls`.
      public var calls: Int
      /// How many were looked at.
      public var checked: Int
      /// How many for which reason: their payloads were erased, they cannot be read, they have an ordering key and
      /// would be replayed in another order, or they changed since they were counted.
      public var reasons: Reasons

      /// How many for which reason: their payloads were erased, they cannot be read, they have an ordering key and
      /// would be replayed in another order, or they changed since they were counted.
      public struct Reasons: Sendable, Hashable, Codable {
        /// `contentErased`.
        public var contentErased: Int?
        /// `callDamaged`.
        public var callDamaged: Int?
        /// `ordered`.
        public var ordered: Int?
        /// `stateChanged`.
        public var stateChanged: Int?
      }
    }
  }
}

extension RedialAPI {
  /// Give a webhook endpoint a new secret.
  public struct SecretRotation: Sendable, Hashable, Encodable {
    /// How long the old secret also signs, 0s to 30d.
    public var overlap: String?

    /// Creates one; what is left out is not sent.
    public init(overlap: String? = nil) {
      self.overlap = overlap
    }
  }
}

extension RedialAPI {
  /// Show the secret that the callbacks of calls are signed with.
  public struct WebhookSecret: Sendable, Hashable, Codable {
    /// The namespace that a key acts in; by default that of the key that makes it.
    public var namespace: String
    /// `secret`.
    public var secret: String
  }
}

extension RedialAPI {
  /// Show when a policy makes its attempts.
  public struct PolicyPreview: Sendable, Hashable, Encodable {
    /// How to retry: an object, or the name of a stored policy, in its current version (`patient`) or in exactly
    /// one (`patient@3`).
    public var policy: CallPolicy?
    /// `idempotent`.
    public var idempotent: Bool?
    /// Assumed duration of each attempt; up to an hour.
    public var attemptDuration: Duration?
    /// Maximum number of attempts to list.
    public var limit: Int?

    /// Creates one; what is left out is not sent.
    public init(policy: CallPolicy? = nil, idempotent: Bool? = nil, attemptDuration: Duration? = nil, limit: Int? = nil)
    {
      self.policy = policy
      self.idempotent = idempotent
      self.attemptDuration = attemptDuration
      self.limit = limit
    }

    private enum CodingKeys: String, CodingKey { case policy, idempotent, attemptDuration, limit }

    /// Writes it as the service does.
    public func encode(to encoder: any Encoder) throws {
      var members = encoder.container(keyedBy: CodingKeys.self)
      try members.encodeIfPresent(policy, forKey: .policy)
      try members.encodeIfPresent(idempotent, forKey: .idempotent)
      try members.encodeIfPresent(attemptDuration.map { WireSpan($0) }, forKey: .attemptDuration)
      try members.encodeIfPresent(limit, forKey: .limit)
    }
  }
}
