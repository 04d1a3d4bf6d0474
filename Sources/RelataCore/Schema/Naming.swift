/// The conventions by which names of columns, tables and properties are derived from each other.
package enum Naming {
    /// The name as a Swift property: `AlbumId` → `albumId`, `album_id` → `albumId`, `ISBN` → `isbn`.
    package static func lowerCamelCase(_ name: String) -> String {
        let words = name.split { !($0.isLetter || $0.isNumber) }.map(String.init)
        guard let first = words.first else { return name.isEmpty ? "unnamed" : "column" }
        let isShouting = words.count > 1 && !name.contains { $0.isLowercase }
        let rest = words.dropFirst().map { capitalized(isShouting ? $0.lowercased() : $0) }
        let joined = (isShouting ? first.lowercased() : lowerFirst(first)) + rest.joined()
        return joined.first?.isNumber == true ? "_" + joined : joined
    }

    /// The name with its first letter, or its leading run of capitals, in lower case: `Book` → `book`, `ISBN` → `isbn`,
    /// `URLCache` → `urlCache`.
    package static func lowerFirst(_ name: String) -> String {
        let capitals = name.prefix { $0.isUppercase }
        let rest = name.dropFirst(capitals.count)
        if capitals.count <= 1 || rest.isEmpty { return capitals.lowercased() + rest }
        guard rest.first?.isLowercase == true else { return capitals.lowercased() + rest }
        return capitals.dropLast().lowercased() + capitals.suffix(1) + rest
    }

    /// The name with its first letter in upper case.
    package static func capitalized(_ name: String) -> String { name.prefix(1).uppercased() + name.dropFirst() }

    /// The plural of an English noun in lowerCamelCase: `album` → `albums`, `category` → `categories`.
    package static func plural(_ name: String) -> String {
        let lower = name.lowercased()
        if let (singular, plural) = irregular.first(where: { lower.hasSuffix($0.0) }) {
            return name.dropLast(singular.count) + matchCase(plural, to: name.suffix(singular.count))
        }
        if isPlural(lower) || uncountable.contains(where: lower.hasSuffix) { return name }
        if ["s", "x", "z", "ch", "sh"].contains(where: lower.hasSuffix) { return name + "es" }
        if lower.hasSuffix("y"), let before = lower.dropLast().last, !"aeiou".contains(before) {
            return name.dropLast() + "ies"
        }
        return name + "s"
    }

    /// The singular of an English noun: `friends` → `friend`, `categories` → `category`; a singular stays unchanged.
    package static func singular(_ name: String) -> String {
        let lower = name.lowercased()
        if let (singular, plural) = irregular.first(where: { lower.hasSuffix($0.1) }) {
            return name.dropLast(plural.count) + matchCase(singular, to: name.suffix(plural.count))
        }
        if uncountable.contains(where: lower.hasSuffix) || !isPlural(lower) { return name }
        if lower.hasSuffix("ies"), lower.count > 4 { return name.dropLast(3) + "y" }
        if ["sses", "xes", "zzes", "ches", "shes"].contains(where: lower.hasSuffix) { return String(name.dropLast(2)) }
        return String(name.dropLast())
    }

    private static let irregular = [
        ("person", "people"), ("child", "children"), ("woman", "women"), ("mouse", "mice"), ("analysis", "analyses"),
        ("status", "statuses"), ("address", "addresses"), ("bus", "buses"), ("alias", "aliases"),
    ]
    private static let uncountable = ["series", "species", "news", "equipment", "media", "data", "sheep"]

    private static func isPlural(_ lower: String) -> Bool {
        lower.count > 2 && lower.hasSuffix("s") && !["ss", "us", "is", "as", "os"].contains(where: lower.hasSuffix)
    }

    private static func matchCase(_ word: String, to sample: some StringProtocol) -> String {
        sample.first?.isUppercase == true ? capitalized(word) : word
    }
}

extension Entity {
    /// The name without its context: `Book` of `Library.Book`.
    package var shortName: String { name.split(separator: ".").last.map(String.init) ?? name }
}
