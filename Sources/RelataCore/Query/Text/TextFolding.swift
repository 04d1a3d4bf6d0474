import Foundation

/// Removes the differences that ``TextOptions`` ignore, so that folded texts can be compared as bytes.
///
/// The SQL function `relata_fold` calls this too: constants are folded when a query is compiled, columns when it runs.
package enum TextFolding {
    /// The text without differences of case or of diacritics, by the options.
    package static func fold(_ text: String, _ options: TextOptions) -> String {
        if options.isEmpty { return text }
        if text.utf8.allSatisfy({ $0 < 0x80 }) {
            return options.contains(.caseInsensitive) ? text.lowercased() : text
        }
        var scalars = String.UnicodeScalarView()
        let isCaseInsensitive = options.contains(.caseInsensitive)
        let source = options.contains(.diacriticInsensitive) ? text.decomposedStringWithCanonicalMapping : text
        for scalar in source.unicodeScalars {
            if options.contains(.diacriticInsensitive), scalar.isDiacritic { continue }
            if isCaseInsensitive {
                scalar.appendFoldedCase(to: &scalars)
            } else {
                scalars.append(scalar)
            }
        }
        // Recomposed, so that a letter is never found inside another one.
        return String(scalars).precomposedStringWithCanonicalMapping
    }
}

extension Unicode.Scalar {
    /// Marks above, below, through or around a letter. Signs that make another letter of it (the voicing marks of
    /// kana, nuktas and viramas of Indic scripts) are no diacritics.
    var isDiacritic: Bool {
        guard value >= 0x300 else { return false }
        let combiningClass = properties.canonicalCombiningClass.rawValue
        return combiningClass != 0 && !(7...9).contains(combiningClass)
    }

    /// By way of the capital letter, because some small letters share one: `ς` and `σ`, `ß` and `ss`.
    fileprivate func appendFoldedCase(to scalars: inout String.UnicodeScalarView) {
        if value < 0x80 {
            let isCapital = value >= 0x41 && value <= 0x5A
            scalars.append(isCapital ? Unicode.Scalar(UInt8(value) + 0x20) : self)
        } else if value == 0x131 {
            scalars.append(self)  // the Turkish dotless i, whose capital is an ordinary I, is another letter than i
        } else {
            for capital in properties.uppercaseMapping.unicodeScalars {
                scalars.append(contentsOf: capital.properties.lowercaseMapping.unicodeScalars)
            }
        }
    }
}
