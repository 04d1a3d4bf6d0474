import Foundation

/// When a job is run by itself.
///
/// A job that is new begins with the first time that comes after the server knows it. A time that passes while the job still
/// runs, or while no server does, is made up for once.
public struct JobSchedule: Hashable, Sendable {
    private enum Times: Hashable, Sendable {
        case every(seconds: Double)
        case daily(hour: Int, minute: Int, TimeZone)
    }

    private let times: Times

    /// So many seconds after it was started last, at least one.
    public static func every(seconds: Double) -> JobSchedule { JobSchedule(times: .every(seconds: seconds)) }

    /// Once a day.
    public static func daily(hour: Int, minute: Int = 0, in timeZone: TimeZone = .gmt) -> JobSchedule {
        JobSchedule(times: .daily(hour: hour, minute: minute, timeZone))
    }

    /// When it is run that was started last at a time.
    func next(after date: Date) -> Date {
        switch times {
        case .every(let seconds): return date.addingTimeInterval(seconds)
        case .daily(let hour, let minute, let timeZone):
            var calendar = Calendar(identifier: .gregorian)
            calendar.timeZone = timeZone
            // Where clocks are put forward, the time may not be there on that day: then it is the next one that is.
            return calendar.nextDate(
                after: date, matching: DateComponents(hour: hour, minute: minute, second: 0), matchingPolicy: .nextTime)
                ?? date.addingTimeInterval(86_400)
        }
    }

    /// What is wrong with it; `nil` where nothing is.
    var problem: String? {
        switch times {
        case .every(let seconds):
            (1...31_536_000).contains(seconds) ? nil : "it is every \(seconds) seconds: it must be 1 to 31536000"
        case .daily(let hour, let minute, _):
            (0...23).contains(hour) && (0...59).contains(minute) ? nil : "there is no time \(hour):\(minute)"
        }
    }
}
