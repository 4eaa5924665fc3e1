public import RedialCore
internal import RedialJSON
internal import RedialText

/// A message of an alert, in the shape that its channel takes.
public struct AlertMessage: Sendable {
  /// What is reported.
  public enum Kind: String, Sendable, Hashable {
    case opened
    case ended
    /// A client wants to see a message arrive.
    case test
    /// The alert does not watch for it any more.
    case unwatched
    /// Somebody knows of it. Only PagerDuty is notified.
    case acknowledged

    /// Whether it is over.
    var isEnd: Bool { self == .ended || self == .unwatched }

    /// The type of the event, for endpoints and the label of the webhook.
    public var event: EventType { isEnd ? .alertEnded : .alertOpened }
  }

  public let kind: Kind
  private let notice: AlertNotice
  private let now: Timestamp

  /// A message about what an alert reports.
  public init(_ kind: Kind, _ notice: AlertNotice, at now: Timestamp) {
    (self.kind, self.notice, self.now) = (kind, notice, now)
  }

  /// The content of the call that is the message: in no channel's shape and without secrets, because only the attempt knows
  /// where the alert leads.
  public func stored(for alert: Alert) -> [UInt8] {
    var writer = JSONWriter(capacity: 1024)
    writer.beginObject()
    writer.field("alertMessage", kind.rawValue)
    writer.field("at", Int(now.microseconds))
    writer.field("alertCreatedAt", Int(alert.createdAt.microseconds))
    writer.key("notice")
    writer.raw(notice.bytes)
    writer.endObject()
    return writer.bytes
  }

  /// Reads it back.
  ///
  /// - Returns: Nil for another content, such as of an earlier version; and when the alert was made.
  public static func read(_ stored: [UInt8]) -> (message: AlertMessage, alertCreatedAt: Timestamp)? {
    stored.withUnsafeBufferPointer { bytes in
      var reader = JSONReader(bytes)
      var (kind, at, made) = (nil as Kind?, nil as Timestamp?, nil as Timestamp?)
      var notice: AlertNotice?
      do throws(JSONError) {
        try reader.beginObject()
        while let name = try reader.nextKey() {
          switch name {
          case "alertMessage": kind = Kind(rawValue: try reader.string())
          case "at": at = Timestamp(microseconds: try reader.integer())
          case "alertCreatedAt": made = Timestamp(microseconds: try reader.integer())
          case "notice": notice = AlertNotice(document: Array(reader.raw(try reader.skipValue())))
          default: _ = try reader.skipValue()
          }
        }
      } catch {
        return nil
      }
      guard let kind, let at, let made, let notice else { return nil }
      return (AlertMessage(kind, notice, at: at), made)
    }
  }

  /// The content that a channel takes.
  public func body(for alert: Alert) -> [UInt8] {
    switch alert.channel {
    case .endpoint: return WebhookPayload.make(kind.event, at: now) { notice.write(at: now, to: &$0) }
    case .slack: return slack
    case .teams: return teams
    case .pagerDuty: return pagerDuty(alert.routingKey ?? "")
    }
  }

  /// The first line: what a phone shows.
  private var title: String {
    let time = notice.duration(at: now).roughly
    switch kind {
    case .test: return "A test of the alert \(notice.alert). Nothing has happened."
    case .unwatched: return "Not watched any more, after \(time): \(notice.summary)"
    case .ended: return "Over after \(time): \(over)"
    // Reported again, or late because of a silence.
    case .opened where notice.notifiedAt != notice.openedAt: return "Still open after \(time): \(notice.summary)"
    case .opened, .acknowledged: return notice.summary
    }
  }

  /// What is over.
  private var over: String {
    let target = PlainText.escaped(notice.target ?? "")
    guard notice.members.isEmpty else { return "none of them is there any more." }
    return switch notice.kind {
    case .down, .failing: "\(target) works again."
    case .held: "\(target) is not held any more, or no call waits for it."
    case .late: "calls to \(target) are on time again."
    case .failed: "no more calls to \(target) fail like this. Those that failed are kept."
    case .stuck: "the store's check finds no calls any more."
    }
  }

  private var details: String {
    let of = "\(notice.alert), namespace \(notice.namespace.name), since \(TimestampText.format(notice.since))"
    return kind == .test ? of + ". More: " : of + ", \(notice.issue?.description ?? notice.id). More: "
  }

  /// https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
  private var slack: [UInt8] {
    var writer = JSONWriter(capacity: 512)
    writer.beginObject()
    let mark = kind == .test ? ":white_circle:" : kind.isEnd ? ":large_green_circle:" : ":red_circle:"
    writer.field(
      "text", "\(mark) *\(Self.slackText(title))*\n\(Self.slackText(details))`\(Self.slackCode(notice.action))`")
    // What a target has answered may have links.
    writer.field("unfurl_links", false)
    writer.field("unfurl_media", false)
    writer.endObject()
    return writer.bytes
  }

  /// A command as it is typed; without what would end the code, and so without what belongs together with it.
  private static func slackCode(_ text: String) -> String {
    let command = text.contains("`") ? text.prefix { $0 != "'" && $0 != "`" } : text[...]
    return String(command).replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
  }

  /// Text in which Slack finds no mentions, and no links but plain ones.
  private static func slackText(_ text: String) -> String {
    var shown = ""
    for character in text {
      switch character {
      case "&": shown += "&amp;"
      case "<": shown += "&lt;"
      case ">": shown += "&gt;"
      // It would end the bold text, or the code.
      case "*", "`": shown += "'"
      default: shown.append(character)
      }
    }
    return shown
  }

  /// A message with an Adaptive Card: https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using
  private var teams: [UInt8] {
    var writer = JSONWriter(capacity: 1024)
    writer.beginObject()
    writer.field("type", "message")
    writer.key("attachments")
    writer.beginArray()
    writer.beginObject()
    writer.field("contentType", "application/vnd.microsoft.card.adaptive")
    writer.key("content")
    writer.beginObject()
    writer.field("$schema", "http://adaptivecards.io/schemas/adaptive-card.json")
    writer.field("type", "AdaptiveCard")
    writer.field("version", "1.4")
    writer.key("body")
    writer.beginArray()
    for (text, color) in [(title, kind == .opened ? "Attention" : "Good"), (details + notice.action, "Default")] {
      writer.beginObject()
      writer.field("type", "TextBlock")
      writer.field("text", Self.cardText(text))
      writer.field("wrap", true)
      writer.field("color", color)
      if color != "Default" { writer.field("weight", "Bolder") }
      writer.endObject()
    }
    writer.endArray()
    writer.endObject()
    writer.endObject()
    writer.endArray()
    writer.endObject()
    return writer.bytes
  }

  /// Text in which a card finds no Markdown.
  private static func cardText(_ text: String) -> String {
    var shown = ""
    for character in text {
      if "\\`*_[]()#".contains(character) { shown += "\\" }
      shown.append(character)
    }
    return shown
  }

  /// PagerDuty's longest summary, in characters.
  private static let longestSummary = 1024

  /// https://developer.pagerduty.com/docs/send-alert-event
  private func pagerDuty(_ routingKey: String) -> [UInt8] {
    var writer = JSONWriter(capacity: 1024)
    writer.beginObject()
    writer.field("routing_key", routingKey)
    let action =
      switch kind {
      case .opened, .test: "trigger"
      case .ended, .unwatched: "resolve"
      case .acknowledged: "acknowledge"
      }
    writer.field("event_action", action)
    writer.field("dedup_key", notice.id)
    writer.field("client", "Redial")
    writer.key("payload")
    writer.beginObject()
    writer.field("summary", String(title.prefix(Self.longestSummary)))
    let target = notice.members.isEmpty ? notice.target : nil
    writer.field("source", target ?? "redial")
    writer.field("severity", kind == .test ? "info" : notice.kind.severity)
    writer.field("timestamp", notice.since)
    if let target { writer.field("component", target) }
    writer.field("group", notice.namespace.name)
    writer.field("class", notice.kind.rawValue)
    writer.key("custom_details")
    notice.write(at: now, to: &writer)
    writer.endObject()
    writer.endObject()
    return writer.bytes
  }
}
