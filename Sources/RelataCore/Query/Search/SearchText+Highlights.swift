import Foundation

extension SearchText {
    /// The matches of the search in a text, in order and without overlaps.
    ///
    /// ```swift
    /// var title = AttributedString(song.title)
    /// for range in search.highlights(in: song.title) { … }
    /// ```
    public func highlights(in text: String) -> [Range<String.Index>] {
        if isEmpty { return [] }
        return Self.merged(occurrences(in: SearchWords.placed(in: text)).map(\.range))
    }

    /// A short part of a text around matches, with the ranges to highlight.
    ///
    /// It shows as many different words of the search as possible, or the beginning of a text without matches.
    ///
    /// - Parameters:
    ///   - text: The text of an attribute.
    ///   - length: The approximate number of characters the part may have.
    public func snippet(of text: String, length: Int = 120) -> SearchSnippet {
        let length = max(length, 1)
        let words = SearchWords.placed(in: text)
        let found = isEmpty ? [] : occurrences(in: words)
        let part = Self.part(of: text, around: found, words, length)
        let start = part.lowerBound > text.startIndex ? SearchSnippet.omission : ""
        let end = part.upperBound < text.endIndex ? SearchSnippet.omission : ""
        let shown = start + text[part] + end
        let offset = shown.index(shown.startIndex, offsetBy: start.count)
        let highlights = Self.merged(found.map(\.range).filter { part.encloses($0) }).map { range in
            let lower = shown.index(
                offset, offsetBy: text.distance(from: part.lowerBound, to: range.lowerBound))
            return lower..<shown.index(lower, offsetBy: text.distance(from: range.lowerBound, to: range.upperBound))
        }
        return SearchSnippet(text: shown, highlights: highlights)
    }

    /// The score of a text by itself: the number of matches, divided by a measure of its length.
    package func relevance(in text: String) -> Double {
        let words = SearchWords.placed(in: text)
        return words.isEmpty ? 0 : Double(occurrences(in: words).count) / (1 + log(Double(words.count)))
    }

    /// The position of a phrase.
    private struct Occurrence {
        /// The phrase's number in the search.
        let phrase: Int
        let range: Range<String.Index>
    }

    /// Every place of every phrase, in order of the places.
    private func occurrences(in words: [SearchWords.PlacedWord]) -> [Occurrence] {
        var found: [Occurrence] = []
        for (number, phrase) in clauses.joined().enumerated() where phrase.words.count <= words.count {
            for start in 0...(words.count - phrase.words.count) {
                let end = start + phrase.words.count - 1
                let isFound = phrase.words.indices.allSatisfy { index in
                    let word = words[start + index].text
                    let isLast = start + index == end
                    return phrase.isPrefix && isLast
                        ? word.hasBytePrefix(phrase.words[index]) : word == phrase.words[index]
                }
                if isFound {
                    found.append(
                        Occurrence(
                            phrase: number, range: words[start].range.lowerBound..<words[end].range.upperBound))
                }
            }
        }
        return found.sorted { ($0.range.lowerBound, $0.range.upperBound) < ($1.range.lowerBound, $1.range.upperBound) }
    }

    private static func merged(_ ranges: [Range<String.Index>]) -> [Range<String.Index>] {
        var merged: [Range<String.Index>] = []
        for range in ranges {
            if let last = merged.last, range.lowerBound <= last.upperBound {
                merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                merged.append(range)
            }
        }
        return merged
    }

    /// The part with the most different phrases, the first of several; it begins and ends at words.
    private static func part(
        of text: String, around found: [Occurrence], _ words: [SearchWords.PlacedWord], _ length: Int
    ) -> Range<String.Index> {
        guard text.index(text.startIndex, offsetBy: length, limitedBy: text.endIndex) ?? text.endIndex < text.endIndex
        else { return text.startIndex..<text.endIndex }
        func end(after start: String.Index) -> String.Index {
            text.index(start, offsetBy: length, limitedBy: text.endIndex) ?? text.endIndex
        }
        var best = (start: text.startIndex, phrases: 0)
        for (number, occurrence) in found.enumerated() {
            let end = end(after: occurrence.range.lowerBound)
            let inside = found[number...].prefix { $0.range.lowerBound < end }.filter { $0.range.upperBound <= end }
            let phrases = Set(inside.map(\.phrase)).count
            if phrases > best.phrases { best = (occurrence.range.lowerBound, phrases) }
        }
        // Some words before it give context.
        let lead =
            text.index(best.start, offsetBy: -(length / 4), limitedBy: text.startIndex) ?? text.startIndex
        let last = found.last { $0.range.lowerBound >= best.start && $0.range.upperBound <= end(after: best.start) }
        var start = words.first { $0.range.lowerBound >= lead }?.range.lowerBound ?? lead
        if lead == text.startIndex { start = lead }
        // Without losing matches.
        if let last, end(after: start) < last.range.upperBound { start = best.start }
        let limit = end(after: start)
        if limit == text.endIndex { return start..<limit }
        let stop = words.last { $0.range.upperBound <= limit && $0.range.upperBound > start }?.range.upperBound ?? limit
        return start..<stop
    }
}

/// A part of a text with the matches of a search.
public struct SearchSnippet: Hashable, Sendable, CustomStringConvertible {
    /// The part. An ellipsis marks a cut.
    public let text: String
    /// The ranges to highlight in it, in order and without overlaps.
    public let highlights: [Range<String.Index>]

    static let omission = "…"

    /// The part, with the matches between asterisks.
    public var description: String { marked("*", "*") }

    /// The part with marks around the matches.
    ///
    /// ```swift
    /// let html = snippet.marked("<mark>", "</mark>") { $0.replacing("&", with: "&amp;").replacing("<", with: "&lt;") }
    /// ```
    ///
    /// - Parameters:
    ///   - opening: The mark before a match.
    ///   - closing: The mark after a match.
    ///   - escape: Escapes text in a language in which the marks have a meaning, such as HTML.
    public func marked(_ opening: String, _ closing: String, escape: (String) -> String = { $0 }) -> String {
        var result = ""
        var place = text.startIndex
        for range in highlights {
            result += escape(String(text[place..<range.lowerBound])) + opening + escape(String(text[range])) + closing
            place = range.upperBound
        }
        return result + escape(String(text[place...]))
    }
}

extension String {
    /// Whether the bytes of another text are its first ones: an e isn't the beginning of an é.
    fileprivate func hasBytePrefix(_ prefix: String) -> Bool { utf8.starts(with: prefix.utf8) }
}

extension Range<String.Index> {
    fileprivate func encloses(_ other: Range) -> Bool {
        lowerBound <= other.lowerBound && other.upperBound <= upperBound
    }
}
