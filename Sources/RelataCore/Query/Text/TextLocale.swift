import Foundation

/// The order that a language gives to text, as Foundation compares text in a locale.
package struct TextLocale: Sendable {
    private let locale: Locale
    private let identifier: String

    /// The order of a locale such as `de` or `sv_SE`.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` for an unknown locale: Foundation would silently use another one's
    ///   order.
    package init(identifier: String) throws(RelataError) {
        let name = identifier.replacingOccurrences(of: "-", with: "_")
        guard Self.identifiers.contains(name) else {
            throw .invalidUse(
                "\"\(identifier.prefix(40))\" isn't a locale that text can be sorted by: give one such as de, sv_SE or zh_Hans"
            )
        }
        self.identifier = name
        locale = Locale(identifier: name)
    }

    private static let identifiers = Set(Locale.availableIdentifiers)
    private static let prefix = "relata_locale_"

    /// The name of the collation in SQL.
    package var collation: String { Self.prefix + identifier }

    /// The name of PostgreSQL's collation, which exists if it was built with ICU and knows the locale.
    package var internationalCollation: String { identifier.replacingOccurrences(of: "_", with: "-") + "-x-icu" }

    /// The locale of a collation by its name; `nil` for the name of another collation.
    package init?(collation: String) {
        guard collation.hasPrefix(Self.prefix),
            let known = try? TextLocale(identifier: String(collation.dropFirst(Self.prefix.count)))
        else { return nil }
        self = known
    }

    /// Whether a text precedes another, follows it, or is equal in order.
    package func compare(_ left: String, _ right: String) -> ComparisonResult { left.compare(right, locale: locale) }
}
