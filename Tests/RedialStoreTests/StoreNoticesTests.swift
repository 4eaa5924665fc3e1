import Testing

import RedialModel
@testable import RedialSQLite
@testable import RedialStore

@Suite("Notices of a store")
struct StoreNoticesTests {
  @Test("those that come before a receiver are kept for it, in their order")
  func kept() {
    let log = NoticeLog()
    let notices = StoreNotices()
    notices.post(.misplaced(StoreError(kind: .unavailable, message: "away")))
    notices.post(.misplaced(nil))
    notices.receive(log.notices.post)
    #expect(log.misplaced == [true, false])
    notices.post(.misplaced(nil))
    #expect(log.misplaced == [true, false, false])
  }
}
