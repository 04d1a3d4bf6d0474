import Synchronization

/// The name under which a `Codable` type stores a property.
///
/// A key path knows the property, but not its coding key. The two have the same name if the keys are an enum without
/// raw values, as the compiler writes it. Everything else is refused: a query must not look for another name than the
/// stored one.
enum MemberName {
    /// A stored property: no two of one type begin at one offset, except those without a size.
    private struct Property: Hashable {
        let root: ObjectIdentifier
        let member: ObjectIdentifier
        let offset: Int
    }

    /// The results so far: the result for a type never changes.
    private static let found = Mutex<[Property: Result<String, Unknown>]>([:])

    /// The name of the property at the end of a key path of one step.
    ///
    /// - Parameters:
    ///   - path: The key path.
    ///   - type: The type of the member, if it is known, for the error.
    /// - Throws: ``Unknown`` if the name isn't certain.
    static func stored<Root: Codable, Member>(
        _ path: KeyPath<Root, Member>, as type: Any.Type
    ) throws(Unknown) -> String {
        // A computed property has no offset.
        guard let offset = MemoryLayout<Root>.offset(of: path) else {
            throw Unknown(name: "", root: "\(Root.self)", type: "\(type)", reason: .unnamed)
        }
        let key = Property(root: ObjectIdentifier(Root.self), member: ObjectIdentifier(Member.self), offset: offset)
        if let known = found.withLock({ $0[key] }) { return try known.get() }
        let name = isAlone(at: offset, in: Root.self) ? property("\(path)", of: Root.self) : ""
        let result: Result<String, Unknown> =
            if let reason = doubt(name, of: Root.self) {
                .failure(Unknown(name: name, root: "\(Root.self)", type: "\(type)", reason: reason))
            } else {
                .success(name)
            }
        found.withLock { $0[key] = result }
        return try result.get()
    }

    /// Whether one field begins there: Swift names a key path after the first field at the offset, and fields without a
    /// size share one with the next field.
    private static func isAlone(at offset: Int, in root: Any.Type) -> Bool {
        (0..<fieldCount(of: root)).count { fieldOffset(in: root, index: $0) == offset } == 1
    }

    /// The property's name in the text of the key path: `\Address.city`. Empty for a computed one, which is
    /// `\Address.<computed 0x… (String)>`, and where the program was built without names of properties.
    private static func property(_ description: String, of root: Any.Type) -> String {
        let start = "\\\(root)."
        guard description.hasPrefix(start), !description.dropFirst(start.count).contains("<") else { return "" }
        return String(description.dropFirst(start.count))
    }

    /// The reason why the property may have another name in JSON, or none.
    private static func doubt<Root: Codable>(_ name: String, of root: Root.Type) -> Unknown.Reason? {
        if name.isEmpty { return .unnamed }
        do {
            _ = try Root(from: KeyFinder())
        } catch let keys as CodingKeys {
            if keys.type is any RawRepresentable.Type { return .rawKeys }
            guard let key = keys.type.init(stringValue: name), key.stringValue == name else { return .noKey }
            return Mirror(reflecting: key).displayStyle == .enum ? nil : .openKeys
        } catch {}
        return .noKeys
    }
}

extension MemberName {
    /// The reason why the name of a property isn't certain, and the code to write instead.
    struct Unknown: Error, CustomStringConvertible {
        enum Reason {
            case unnamed, rawKeys, noKey, openKeys, noKeys
        }

        /// Empty if the key path doesn't say it.
        let name: String
        let root: String
        let type: String
        let reason: Reason

        var description: String {
            let subject = name.isEmpty ? "the \(type) of \(root)" : "'\(name)' of \(root)"
            let cause =
                switch reason {
                case .unnamed:
                    "is computed, is next to a property without a size, or the program was built without reflection metadata"
                case .rawKeys: "may have another name in JSON, because the coding keys have raw values"
                case .noKey: "has no coding key of that name"
                case .openKeys: "may have another name in JSON, because the coding keys aren't an enum"
                case .noKeys: "has no name in JSON, because the type names no coding keys"
                }
            return "\(subject) \(cause): give the name in JSON, as in '.member(\"name in JSON\", as: \(type).self)'"
        }
    }

    /// Thrown to leave a type's `init(from:)` once it has named its keys.
    private struct CodingKeys: Error {
        let type: any CodingKey.Type
    }

    private struct NoCodingKeys: Error {}

    /// Learns the type of the coding keys, and never provides a value: no code of the type runs on made-up values.
    private struct KeyFinder: Decoder {
        var codingPath: [any CodingKey] { [] }
        var userInfo: [CodingUserInfoKey: Any] { [:] }

        func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
            throw CodingKeys(type: type)
        }

        func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw NoCodingKeys() }
        func singleValueContainer() throws -> any SingleValueDecodingContainer { throw NoCodingKeys() }
    }
}

// The runtime's functions by which Swift itself describes key paths.

@_silgen_name("swift_reflectionMirror_recursiveCount")
private func fieldCount(of type: Any.Type) -> Int

@_silgen_name("swift_reflectionMirror_recursiveChildOffset")
private func fieldOffset(in type: Any.Type, index: Int) -> Int
