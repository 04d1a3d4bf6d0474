/// The names of a property or a table in older versions of the models: one name, or several, the newest first.
///
/// Several names let a file skip versions: a program that opens it finds the values under any of them.
///
/// ```swift
/// @Attribute(originalName: "label") var name: String
/// @Attribute(originalName: ["title", "label"]) var name: String
/// ```
public struct OriginalNames: Hashable, Sendable {
    /// The names, the newest first.
    public let names: [String]

    /// The names, the newest first.
    public init(_ names: [String]) { self.names = names }
}

extension OriginalNames: ExpressibleByStringLiteral {
    /// One name.
    public init(stringLiteral name: String) { self.init([name]) }
}

extension OriginalNames: ExpressibleByArrayLiteral {
    /// Several names, the newest first.
    public init(arrayLiteral names: String...) { self.init(names) }
}

extension OriginalNames: Codable {
    /// Reads a text, or an array of texts.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        self.init(try (try? container.decode(String.self)).map { [$0] } ?? container.decode([String].self))
    }

    /// Writes a single name as a text, like earlier versions, which had only one.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if names.count == 1 { try container.encode(names[0]) } else { try container.encode(names) }
    }
}
