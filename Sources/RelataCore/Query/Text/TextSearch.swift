import Foundation

/// A search for a regular expression in many texts, with a time limit: some expressions take unlimited time, even in
/// short texts.
package struct TextSearch {
    /// The longest time for all searches of a statement together, and for one match of a whole text.
    package static let limit = Duration.seconds(1)

    /// The engine silently gives up some searches, after some forty million steps. It reports every ten thousand steps,
    /// and also each place where a match may begin. So a search with that many reports counts as given up only if it
    /// took longer than checking each place can.
    private static let patientReports = 3000

    /// Searches that end with fewer reports aren't timed, because reading the clock would take as much time as some of
    /// them.
    private static let shortReports = 100

    /// The running time of the thread, without waits for a processor.
    private static var processorTime: Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    private static func patience(_ length: Int) -> Duration { .milliseconds(100) + .nanoseconds(200 * length) }

    private let pattern: String
    private let expression: NSRegularExpression
    private let ignoresDiacritics: Bool
    /// Whether no text can keep it busy: it repeats nothing and has no alternatives.
    private let isPlain: Bool

    /// Looks for a regular expression: in a part of a text, or as the whole of it.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` for an invalid pattern.
    package init(_ pattern: String, options: TextOptions = [], isWhole: Bool = false) throws(RelataError) {
        self.pattern = pattern
        ignoresDiacritics = options.contains(.diacriticInsensitive)
        expression = try TextPattern.expression(
            ignoresDiacritics ? TextFolding.fold(pattern, .diacriticInsensitive) : pattern,
            isCaseInsensitive: options.contains(.caseInsensitive), isWhole: isWhole)
        isPlain = !pattern.utf8.contains { [0x2A, 0x2B, 0x3F, 0x7B, 0x7C].contains($0) }  // * + ? { |
    }

    /// Whether the text, or a part of it, matches. The time is subtracted from the remaining time.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` if no time remains, and SQLite's interruption error for a cancelled
    ///   task.
    package func isFound(in text: String, timeLeft: inout Duration) throws(RelataError) -> Bool {
        let text = ignoresDiacritics ? TextFolding.fold(text, .diacriticInsensitive) : text
        let range = NSRange(location: 0, length: text.utf16.count)
        if isPlain { return expression.firstMatch(in: text, range: range) != nil }
        let clock = SuspendingClock()
        let start = clock.now
        let end = start + timeLeft
        let options: NSRegularExpression.MatchingOptions = [.reportProgress, .reportCompletion]
        var (isFound, isCancelled, hasGivenUp) = (false, false, false)
        var reports = 0
        var patientStart = Duration.zero
        expression.enumerateMatches(in: text, options: options, range: range) { match, flags, stop in
            reports += 1
            if reports == Self.shortReports { patientStart = Self.processorTime }
            if match != nil { isFound = true }
            // It ran out of memory for backtracking.
            if flags.contains(.internalError) { hasGivenUp = true }
            isCancelled = !isFound && Task.isCancelled
            if isFound || isCancelled || clock.now > end { stop.pointee = true }
        }
        let duration = clock.now - start
        timeLeft -= duration
        if isFound { return true }
        if isCancelled { throw .interrupted }
        if reports >= Self.patientReports, Self.processorTime - patientStart > Self.patience(range.length) {
            hasGivenUp = true
        }
        if hasGivenUp || timeLeft < .zero {
            throw .invalidUse(
                "the regular expression \"\(pattern.prefix(200))\" took too long: make it simpler, or narrow the query by other conditions"
            )
        }
        return false
    }
}
