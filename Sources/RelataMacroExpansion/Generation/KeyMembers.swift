extension ModelDeclaration {
    /// The primary key's type, and how it is read and bound.
    var keyMembers: [String] {
        // A key that one column stores directly is read and bound by the defaults.
        if key.count == 1, key[0].plainType != nil { return [keyDeclaration, primaryKey] }
        return [
            keyDeclaration,
            primaryKey,
            member(
                "\(access)static var keyTypes: [Relata.AttributeType]",
                [key.map(\.keyTypes).joined(separator: " + ")]),
            member(
                "\(access)static func readKey(from reader: inout Relata.RowReader) throws -> Key",
                [
                    key.count == 1
                        ? key[0].readKey
                        : "Key(" + key.map { "\($0.identifier): \($0.readKey)" }.joined(separator: ", ") + ")"
                ].map { "try " + $0 }),
            member(
                "\(access)static func bind(_ key: Key, to binder: inout Relata.Binder) throws",
                key.map { $0.bindKey(key.count == 1 ? "key" : "key.\($0.identifier)") }),
        ]
    }

    private var keyDeclaration: String {
        // A mistake may have taken the key away.
        if key.isEmpty { return "\(access)typealias Key = Int" }
        return key.count == 1 ? "\(access)typealias Key = \(key[0].keyType)" : compositeKey
    }

    private var compositeKey: String {
        let conformances = "Hashable, Sendable" + (isCodable ? ", Codable" : "")
        let parameters = key.map { "\($0.identifier): \($0.keyType)" }
        let initializer = declaration(
            "\(access)init(\(parameters.joined(separator: ", ")))",
            key.map { "self.\($0.identifier) = \($0.identifier)" })
        return declaration(
            "\(access)struct Key: \(conformances)",
            parameters.map { "\(access)var \($0)" } + [initializer])
    }

    private var primaryKey: String {
        let links = key.filter { $0.link != nil }
        let header = "\(access)var primaryKey: Key?"
        if isBroken { return member(header, []) }
        if key.count == 1 {
            return member(
                header, ["self.\(key[0].identifier)" + (links.isEmpty ? "" : ".id")])
        }
        let components = key.map {
            "\($0.identifier): " + ($0.link == nil ? "self.\($0.identifier)" : $0.identifier)
        }
        let key = "Key(\(components.joined(separator: ", ")))"
        if links.isEmpty { return member(header, [key]) }
        let bindings = links.map { "let \($0.identifier) = self.\($0.identifier).id" }
        return member(
            header,
            ["guard \(bindings.joined(separator: ", ")) else { return nil }", "return \(key)"])
    }
}

/// One property as a part of a primary key: a to-one contributes the key of its target.
extension StoredProperty {
    fileprivate var keyType: String { link.map { "\($0.target).Key" } ?? type?.wrappedText ?? "" }

    fileprivate var keyTypes: String {
        link.map { "\($0.target).keyTypes" } ?? "[\(codingExpression(of: keyType)).type]"
    }

    fileprivate var readKey: String {
        link.map { "\($0.target).readKey(from: &reader)" } ?? "reader.read(\(codingExpression(of: keyType)))"
    }

    fileprivate func bindKey(_ value: String) -> String {
        "try "
            + (link.map { "\($0.target).bind(\(value), to: &binder)" }
                ?? "binder.bind(\(value), \(codingExpression(of: keyType)))")
    }
}
