import Foundation

/// A regular expression that is looked for in many texts, in a limited time: some expressions take longer than anybody
/// can wait for, even in short texts.
public struct TextSearch {
    /// How long all searches of a statement may take together, and how long one match of a whole text.
    public static let limit = Duration.seconds(1)

    private let pattern: String
    private let expression: NSRegularExpression
    private let ignoresDiacritics: Bool
    /// Whether no text can keep it busy: it repeats nothing and has no alternatives.
    private let isPlain: Bool

    /// Looks for a regular expression: in a part of a text, or as the whole of it.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` where the pattern isn't one.
    public init(_ pattern: String, options: TextOptions = [], isWhole: Bool = false) throws(RelataError) {
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
    public func isFound(in text: String, timeLeft: inout Duration) throws(RelataError) -> Bool {
        let text = ignoresDiacritics ? TextFolding.fold(text, .diacriticInsensitive) : text
        let range = NSRange(location: 0, length: text.utf16.count)
        if isPlain { return expression.firstMatch(in: text, range: range) != nil }
        let clock = ContinuousClock()
        let start = clock.now
        let end = start + timeLeft
        var (isFound, isCancelled) = (false, false)
        expression.enumerateMatches(in: text, options: .reportProgress, range: range) { match, _, stop in
            isFound = match != nil
            isCancelled = !isFound && Task.isCancelled
            if isFound || isCancelled || clock.now > end { stop.pointee = true }
        }
        timeLeft -= clock.now - start
        if isFound { return true }
        if isCancelled { throw .interrupted }
        if timeLeft < .zero {
            throw .invalidUse(
                "the regular expression \"\(pattern.prefix(200))\" took too long: make it simpler, or narrow the query down by other conditions"
            )
        }
        return false
    }
}
