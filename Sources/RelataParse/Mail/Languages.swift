/// The choice of a language for a user.
enum Languages {
    /// The first supported language that a header field `Accept-Language` accepts: by its weights, then in its order.
    ///
    /// - Parameters:
    ///   - accepted: The field's value; `nil` if the request has none.
    ///   - languages: The supported languages: `en`, `zh-Hans`.
    /// - Returns: The first of `languages` if none is accepted.
    static func best(for accepted: String?, among languages: [String]) -> String {
        let fallback = languages.first ?? "en"
        guard let accepted, accepted.utf8.count <= 1024 else { return fallback }
        let ranges = accepted.split(separator: ",").prefix(32).enumerated().compactMap { place, text -> Range? in
            let parts = text.split(separator: ";").map { $0.filter { $0 != " " } }
            guard let tag = parts.first, !tag.isEmpty else { return nil }
            let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
            return weight > 0 ? Range(tag: tag.lowercased(), weight: weight, place: place) : nil
        }
        for range in ranges.sorted(by: { ($1.weight, $0.place) < ($0.weight, $1.place) }) {
            if range.tag == "*" { return fallback }
            if let language = languages.first(where: { suits($0.lowercased(), range.tag) }) { return language }
        }
        return fallback
    }

    private struct Range {
        let tag: String
        let weight: Double
        let place: Int
    }

    /// Whether a language matches a tag, in any region. Chinese has two scripts: without a script in the tag, readers
    /// in Taiwan, Hong Kong and Macau get the traditional one.
    private static func suits(_ language: String, _ tag: String) -> Bool {
        if language == tag || tag.hasPrefix(language + "-") { return true }
        let (own, asked) = (language.split(separator: "-"), tag.split(separator: "-"))
        guard own.first == asked.first else { return false }
        guard own.first == "zh" else { return own.count == 1 || asked.count == 1 }
        let isTraditional =
            asked.contains("hant") || !asked.contains("hans") && asked.contains { ["tw", "hk", "mo"].contains($0) }
        return own.contains("hant") == isTraditional
    }
}
