import Foundation

/// The words of a text for full-text search. Stored, searched and highlighted text is split in the same way on every
/// engine.
///
/// A word is a sequence of letters, digits and their marks, without differences of case and diacritics. In scripts that
/// are written without spaces between words, each character is a word: a sequence of them is found anywhere in a longer
/// one.
package enum SearchWords {
    /// The words of a text, in order.
    package static func words(of text: String) -> [String] {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return asciiWords(of: text) }
        var cutter = Cutter<Void>()
        for scalar in TextFolding.fold(text, overlooked).unicodeScalars { cutter.take(scalar, at: ()) }
        cutter.end()
        return cutter.words.map(\.text)
    }

    /// The text with its words separated by spaces, which SQLite's tokenizer `ascii` splits into exactly these words.
    package static func indexed(_ text: String) -> String {
        // The tokenizer treats plain ASCII text in the same way as this code.
        text.utf8.allSatisfy { $0 < 0x80 } ? text : words(of: text).joined(separator: " ")
    }

    /// A word and its position in its text.
    struct PlacedWord {
        let text: String
        let range: Range<String.Index>
    }

    /// The words of a text with their places, of whole characters.
    static func placed(in text: String) -> [PlacedWord] {
        var cutter = Cutter<Range<String.Index>>()
        var index = text.startIndex
        while index < text.endIndex {
            let next = text.index(after: index)
            for scalar in TextFolding.fold(String(text[index]), overlooked).unicodeScalars {
                cutter.take(scalar, at: index..<next)
            }
            index = next
        }
        cutter.end()
        return cutter.words.map { PlacedWord(text: $0.text, range: $0.first.lowerBound..<$0.last.upperBound) }
    }

    private static let overlooked: TextOptions = [.caseInsensitive, .diacriticInsensitive]

    private static func asciiWords(of text: String) -> [String] {
        text.utf8.split { Unicode.Scalar($0).searchRole == .separator }.map { String(Substring($0)).lowercased() }
    }

    /// Splits a folded text, scalar by scalar. Each word keeps the positions of its first and its last scalar.
    private struct Cutter<Place> {
        private(set) var words: [(text: String, first: Place, last: Place)] = []
        private var open = String.UnicodeScalarView()
        private var places: (first: Place, last: Place)?

        mutating func take(_ scalar: Unicode.Scalar, at place: Place) {
            switch scalar.searchRole {
            case .letter: append(scalar, at: place)
            // A mark without a letter is none.
            case .mark: if !open.isEmpty { append(scalar, at: place) }
            case .wordByItself:
                end()
                words.append((String(scalar), place, place))
            case .separator: end()
            }
        }

        private mutating func append(_ scalar: Unicode.Scalar, at place: Place) {
            open.append(scalar)
            places = (places?.first ?? place, place)
        }

        mutating func end() {
            guard let known = places else { return }
            words.append((String(open), known.first, known.last))
            (open, places) = (String.UnicodeScalarView(), nil)
        }
    }
}

extension Unicode.Scalar {
    /// The role of a scalar in a search.
    enum SearchRole {
        /// A letter or digit, a part of a word.
        case letter
        /// A mark of the letter before it.
        case mark
        /// A letter of a script that sets no spaces between words.
        case wordByItself
        case separator
    }

    var searchRole: SearchRole {
        if value < 0x80 {
            let isLetter =
                value >= 0x30 && value <= 0x39 || value >= 0x41 && value <= 0x5A || value >= 0x61 && value <= 0x7A
            return isLetter ? .letter : .separator
        }
        let isLetter = properties.isAlphabetic || properties.numericType != nil
        let isMark = !isLetter && (properties.isGraphemeExtend || properties.generalCategory == .spacingMark)
        guard isLetter || isMark else { return .separator }
        if value >= 0x0E00, Self.unspacedScripts.contains(where: { $0.contains(value) }) { return .wordByItself }
        return isMark ? .mark : .letter
    }

    /// The ranges of the scripts without spaces between words: Thai, Lao, Burmese, Khmer and their neighbours, Chinese,
    /// Japanese, and Korean, whose particles follow a word without a space.
    private static let unspacedScripts: [ClosedRange<UInt32>] = [
        0x0E00...0x0EFF, 0x1000...0x109F, 0x1100...0x11FF, 0x1780...0x17FF, 0x1950...0x19FF, 0x1A20...0x1AAF,
        0x2E80...0x2FDF, 0x3005...0x3007, 0x3021...0x303C, 0x3040...0x312F, 0x3130...0x318F, 0x31A0...0x31BF,
        0x31F0...0x31FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA960...0xA97F, 0xA9E0...0xA9FF, 0xAA60...0xAADF,
        0xAC00...0xD7FF, 0xF900...0xFAFF, 0xFF66...0xFFDC, 0x1B000...0x1B16F, 0x20000...0x3FFFF,
    ]
}
