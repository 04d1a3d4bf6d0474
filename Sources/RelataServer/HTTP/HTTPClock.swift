#if Server
import Foundation
import Synchronization

/// The time as replies carry it, written once a second.
final class HTTPClock: Sendable {
    private let current = Mutex<(second: Int, text: String)>((0, ""))

    /// `Sun, 06 Nov 1994 08:49:37 GMT`.
    var text: String {
        let second = time(nil)
        return current.withLock { current in
            if current.second != second { current = (second, Self.text(second)) }
            return current.text
        }
    }

    static func text(_ second: Int) -> String {
        var second = time_t(second)
        var parts = tm()
        gmtime_r(&second, &parts)
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return """
            \(days[Int(parts.tm_wday)]), \(two(parts.tm_mday)) \(months[Int(parts.tm_mon)]) \(parts.tm_year + 1900) \
            \(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)) GMT
            """
    }
}
#endif
