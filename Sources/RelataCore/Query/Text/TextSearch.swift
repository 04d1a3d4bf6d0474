import Foundation

/// A regular expression that is looked for in many texts, in a limited time: some expressions take longer than anybody
/// can wait for, even in short texts.
package struct TextSearch {
    /// How long all searches of a statement may take together, and how long one match of a whole text.
    package static let limit = Duration.seconds(1)

    /// The engine gives some searches up without saying so, after some forty million steps. It reports every ten thousand
    /// of them, and also at each place where a match may begin: so what took that many reports counts as given up only if
    /// it took longer than looking at each place can.
    private static let patientReports = 3000

    /// Searches that end before as many reports aren't asked how long they took: to ask takes as long as some of them.
    private static let shortReports = 100

    /// How long the thread has run. It may wait for a processor meanwhile, and its process be stopped.
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
    /// - Throws: ``RelataError/invalidUse(_:)`` where the pattern isn't one.
    package init(_ pattern: String, options: TextOptions = [], isWhole: Bool = false) throws(RelataError) {
        self.pattern = pattern
        ignoresDiacritics = options.contains(.diacriticInsensitive)
        expression = try TextPattern.expression(
            ignoresDiacritics ? TextFolding.fold(pattern, .diacriticInsensitive) : pattern,
            isCaseInsensitive: options.contains(.caseInsensitive), isWhole: isWhole)
        isPlain = !pattern.utf8.contains { [0x2A, 0x2B, 0x3F, 0x7B, 0x7C].contains($0) }  // * + ? { |
    }

    /// Whether the text matches, or a part of it. What it took is taken off the time that is left.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` where no time is left, and what SQLite says of an interruption where the
    ///   task is cancelled.
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
            // It ran out of the memory in which it keeps what is still to be tried.
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
                "the regular expression \"\(pattern.prefix(200))\" took too long: make it simpler, or narrow the query down by other conditions"
            )
        }
        return false
    }
}
