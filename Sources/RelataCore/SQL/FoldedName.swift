/// A name of a table or a column as SQL compares it, to be found by in sets and dictionaries: ASCII letters in lower
/// case, all else byte by byte.
///
/// Swift's own comparison differs twice: `lowercased()` folds letters beyond ASCII, which are different names to
/// SQLite, and `==` takes letters that are composed differently for equal.
package struct FoldedName: Hashable, Comparable, Sendable {
    /// Each byte as a character: no two of these are equal in another composition.
    private let characters: String

    package init(_ name: String) {
        guard name.utf8.contains(where: { $0 >= 0x80 || $0 != $0.folded }) else {
            characters = name
            return
        }
        var folded = String.UnicodeScalarView()
        for byte in name.utf8 { folded.append(Unicode.Scalar(byte.folded)) }
        characters = String(folded)
    }

    /// Whether it begins with another.
    package func hasPrefix(_ prefix: FoldedName) -> Bool { characters.utf8.starts(with: prefix.characters.utf8) }

    package static func < (left: FoldedName, right: FoldedName) -> Bool { left.characters < right.characters }
}

extension FoldedName: ExpressibleByStringLiteral {
    package init(stringLiteral name: String) { self.init(name) }
}

extension String {
    /// The name as SQL compares it.
    package var foldedName: FoldedName { FoldedName(self) }

    /// Whether SQL takes the two for one name.
    package func isSameName(as other: String) -> Bool {
        var (left, right) = (utf8.makeIterator(), other.utf8.makeIterator())
        while let one = left.next() {
            guard let two = right.next() else { return false }
            if one != two, one.folded != two.folded { return false }
        }
        return right.next() == nil
    }
}

extension UInt8 {
    /// The letter in lower case, if it is one of ASCII.
    fileprivate var folded: UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self
    }
}
