/// Names that no member of an object may have, at any depth: other programs would misread them.
public struct ProhibitedNames: Sendable {
    /// The names that Parse Server refuses.
    public static let standard: [String] = ["_bsontype", "constructor", "__proto__"]

    private let names: Set<String>
    /// A bit for the length of each name: most names of members have another.
    private let lengths: UInt64

    /// Prohibits names.
    public init(_ names: [String] = standard) {
        self.names = Set(names)
        lengths = names.reduce(0) { $0 | Self.bit($1.utf8.count) }
    }

    private static func bit(_ length: Int) -> UInt64 { 1 << UInt64(min(length, 63)) }

    /// Looks for prohibited names in the body of an object. In the names of its fields, parts between dots count.
    ///
    /// - Throws: ``ParseError`` 105 that names the prohibited name.
    func check(_ body: JSONObject) throws(ParseError) {
        if names.isEmpty { return }
        for (name, value) in body {
            if name.utf8.contains(UInt8(ascii: ".")) {
                for part in name.split(separator: ".") { try check(String(part), value) }
            } else {
                try check(name, value)
            }
            try check(value)
        }
    }

    private func check(_ value: JSONValue) throws(ParseError) {
        switch value {
        case .null, .bool, .integer, .double, .string: break
        case .array(let elements): for element in elements { try check(element) }
        case .object(let members):
            for (name, value) in members {
                try check(name, value)
                try check(value)
            }
        }
    }

    private func check(_ name: String, _ value: JSONValue) throws(ParseError) {
        guard lengths & Self.bit(name.utf8.count) != 0, names.contains(name) else { return }
        var keyword: JSONObject = ["key": .string(name)]
        // Parse's own server recognises this one by its value.
        if name == "_bsontype", value == "Code" { keyword["value"] = value }
        throw ParseError(
            .invalidKeyName, "Prohibited keyword in request data: \(JSONWriter.text(.object(keyword))).")
    }
}
