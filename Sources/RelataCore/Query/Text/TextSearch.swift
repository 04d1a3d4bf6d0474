import Foundation

/// A regular expression that is looked for in many texts, in a limited time: some expressions take longer than anybody
/// can wait for, even in short texts.
public struct TextSearch {
    /// How long all searches of a statement may take together.
    public static let limit = Duration.seconds(1)

    private let expression: NSRegularExpression
    private let ignoresDiacritics: Bool
    /// Whether no text can keep it busy: it repeats nothing and has no alternatives.
    private let isPlain: Bool

    /// Looks for a regular expression.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` where the pattern isn't one.
    public init(_ pattern: String, options: TextOptions = []) throws(RelataError) {
        ignoresDiacritics = options.contains(.diacriticInsensitive)
        expression = try TextPattern.expression(
            ignoresDiacritics ? TextFolding.fold(pattern, .diacriticInsensitive) : pattern,
            isCaseInsensitive: options.contains(.caseInsensitive), isWhole: false)
        isPlain = !pattern.utf8.contains { [0x2A, 0x2B, 0x3F, 0x7B, 0x7C].contains($0) }  // * + ? { |
    }

    /// Whether a part of the text matches. What it took is taken off the time that is left.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` where no time is left.
    public func isFound(in text: String, timeLeft: inout Duration) throws(RelataError) -> Bool {
        let text = ignoresDiacritics ? TextFolding.fold(text, .diacriticInsensitive) : text
        let range = NSRange(location: 0, length: text.utf16.count)
        let clock = ContinuousClock()
        let start = clock.now
        var isFound = false
        if isPlain {
            isFound = expression.firstMatch(in: text, range: range) != nil
        } else {
            let end = start + timeLeft
            expression.enumerateMatches(in: text, options: .reportProgress, range: range) { match, _, stop in
                isFound = match != nil
                if isFound || clock.now > end { stop.pointee = true }
            }
        }
        timeLeft -= clock.now - start
        if !isFound && timeLeft < .zero {
            throw .invalidUse(
                "the regular expression \"\(expression.pattern.prefix(200))\" took too long: make it simpler, or narrow the query down by other conditions"
            )
        }
        return isFound
    }
}
