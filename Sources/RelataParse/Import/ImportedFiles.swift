import RelataCore

extension ParseService {
    /// Stores a file of another server under its name. An existing file isn't replaced.
    func importFile(_ name: String, _ bytes: [UInt8]) async throws {
        guard let files = options.files else { throw ParseError.filesAreOff }
        try await makeFiles()
        let content = try await files.storage.store(ByteStream(bytes))
        try await store.write(as: .master) { transaction in
            if try transaction.file(name) == nil { try transaction.add(StoredFile(name: name, content: content)) }
        }
    }

    /// The names of existing files among some names.
    func storedFiles(_ names: Set<String>) async throws -> Set<String> {
        if names.isEmpty { return [] }
        return try await store.read(as: .master) { transaction in
            try names.filter { try transaction.file($0) != nil }
        }
    }
}

extension JSONValue {
    /// Collects the files in the value, at any depth, with their URLs.
    func files(into files: inout [String: String?]) {
        switch self {
        case .null, .bool, .integer, .double, .string: break
        case .array(let elements): for element in elements { element.files(into: &files) }
        case .object(let members):
            guard members["__type"] == "File", let name = members["name"]?.string else {
                for (_, value) in members { value.files(into: &files) }
                return
            }
            files[name] = .some(members["url"]?.string)
        }
    }

    /// The value without the URLs of some files, for which the server adds its own.
    func withoutAddresses(of names: Set<String>) -> JSONValue {
        switch self {
        case .null, .bool, .integer, .double, .string: return self
        case .array(let elements): return .array(elements.map { $0.withoutAddresses(of: names) })
        case .object(let members):
            if members["__type"] == "File", let name = members["name"]?.string, names.contains(name) {
                return ["name": .string(name), "__type": "File"]
            }
            return .object(JSONObject(members.map { ($0.key, $0.value.withoutAddresses(of: names)) }))
        }
    }
}
