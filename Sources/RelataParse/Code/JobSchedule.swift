import Foundation

/// The schedule of a job.
///
/// A new job runs at the first scheduled time after the server has found the job. If times pass while the job still
/// runs, or while no server runs, one run makes up for them.
public struct JobSchedule: Hashable, Sendable {
    private enum Times: Hashable, Sendable {
        case every(seconds: Double)
        case daily(hour: Int, minute: Int, TimeZone)
    }

    private let times: Times

    /// So many seconds after the last start. The minimum is one second.
    public static func every(seconds: Double) -> JobSchedule { JobSchedule(times: .every(seconds: seconds)) }

    /// Once a day.
    public static func daily(hour: Int, minute: Int = 0, in timeZone: TimeZone = .gmt) -> JobSchedule {
        JobSchedule(times: .daily(hour: hour, minute: minute, timeZone))
    }

    /// The next scheduled time after a start.
    func next(after date: Date) -> Date {
        switch times {
        case .every(let seconds): return date.addingTimeInterval(seconds)
        case .daily(let hour, let minute, let timeZone):
            var calendar = Calendar(identifier: .gregorian)
            calendar.timeZone = timeZone
            // If clocks are put forward, the time may be missing on that day. The next existing time replaces it.
            return calendar.nextDate(
                after: date, matching: DateComponents(hour: hour, minute: minute, second: 0), matchingPolicy: .nextTime)
                ?? date.addingTimeInterval(86_400)
        }
    }

    /// The error in the schedule, or `nil`.
    var problem: String? {
        switch times {
        case .every(let seconds):
            (1...31_536_000).contains(seconds) ? nil : "its interval is \(seconds) seconds: it must be 1 to 31536000"
        case .daily(let hour, let minute, _):
            (0...23).contains(hour) && (0...59).contains(minute) ? nil : "there is no time \(hour):\(minute)"
        }
    }
}
