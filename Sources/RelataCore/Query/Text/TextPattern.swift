import Foundation
import Synchronization

/// Regular expressions and wildcard patterns, as every engine and every check of a declared pattern reads them.
package enum TextPattern {
    /// Whether the regular expression matches the text as a whole.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` if the pattern isn't a regular expression, or takes too long.
    package static func matches(
        _ text: String, _ pattern: String, options: TextOptions = []
    ) throws(RelataError) -> Bool {
        var timeLeft = TextSearch.limit
        return try TextSearch(pattern, options: options, isWhole: true).isFound(in: text, timeLeft: &timeLeft)
    }

    /// Checks that a pattern is a regular expression, before it is used.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` if it isn't.
    package static func check(_ pattern: String) throws(RelataError) {
        _ = try expression(pattern, isCaseInsensitive: false, isWhole: false)
    }

    private struct Key: Hashable {
        /// A value, because an é and an e with an accent are equal as strings.
        let pattern: Value
        let isCaseInsensitive: Bool
        let isWhole: Bool
    }

    /// Compiled expressions: one pattern is matched against many rows.
    private static let cache = Mutex<[Key: NSRegularExpression]>([:])

    static func expression(
        _ pattern: String, isCaseInsensitive: Bool, isWhole: Bool
    ) throws(RelataError) -> NSRegularExpression {
        let key = Key(pattern: .text(pattern), isCaseInsensitive: isCaseInsensitive, isWhole: isWhole)
        if let known = cache.withLock({ $0[key] }) { return known }
        do {
            let options: NSRegularExpression.Options = isCaseInsensitive ? [.caseInsensitive] : []
            // Checked alone first: unbalanced parentheses could balance with those around it.
            let alone = try NSRegularExpression(pattern: pattern, options: options)
            let made = isWhole ? try NSRegularExpression(pattern: "\\A(?:\(pattern))\\z", options: options) : alone
            cache.withLock { cache in
                // A program has few patterns; this limits one that builds them from data.
                if cache.count >= 100 { cache = [:] }
                cache[key] = made
            }
            return made
        } catch {
            throw .invalidUse(
                "\"\(pattern.prefix(200))\" isn't a regular expression: check its brackets and backslashes")
        }
    }

    /// Whether the whole text matches the pattern, in which `*` stands for any characters and `?` for one. After a
    /// backslash, both stand for themselves.
    package static func isLike(_ text: String, _ pattern: String, options: TextOptions = []) -> Bool {
        let text = Array(TextFolding.fold(text, options).unicodeScalars)
        let pattern = parse(TextFolding.fold(pattern, options))
        var place = 0
        var next = 0
        var retry: (place: Int, next: Int)?
        while place < text.count {
            if next < pattern.count, pattern[next] == .any {
                retry = (place, next)
                next += 1
            } else if next < pattern.count, pattern[next] == .one || pattern[next] == .literal(text[place]) {
                place += 1
                next += 1
            } else if let last = retry {
                // The last `*` takes one character more; going back to an earlier one can't help.
                place = last.place + 1
                next = last.next + 1
                retry = (place, last.next)
            } else {
                return false
            }
        }
        return pattern[next...].allSatisfy { $0 == .any }
    }

    /// The characters before the first `*` or `?` of a pattern: every matching text begins with them.
    static func literalPrefix(_ pattern: String) -> String {
        var prefix = String.UnicodeScalarView()
        for element in parse(pattern) {
            guard case .literal(let scalar) = element else { break }
            prefix.append(scalar)
        }
        return String(prefix)
    }

    private enum Element: Equatable {
        case any, one
        case literal(Unicode.Scalar)
    }

    private static func parse(_ pattern: String) -> [Element] {
        var elements: [Element] = []
        var isEscaped = false
        for scalar in pattern.unicodeScalars {
            switch scalar {
            case _ where isEscaped:
                elements.append(.literal(scalar))
                isEscaped = false
            case "\\": isEscaped = true
            case "*": elements.append(.any)
            case "?": elements.append(.one)
            default: elements.append(.literal(scalar))
            }
        }
        if isEscaped { elements.append(.literal("\\")) }
        return elements
    }
}
