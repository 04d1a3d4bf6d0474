import RelataCore
import RelataEngine

extension ParseService {
    /// Answers a request about the configuration parameters of apps.
    func config(_ call: ParseCall) async throws -> WireReply {
        guard store.models == nil else {
            throw ParseError(.operationForbidden, "a server of an app's own models has no configuration")
        }
        switch call.method {
        case .get:
            return try await store.read(as: call.caller) { transaction in
                let parameters = try transaction.configParameters()
                var reply: JSONObject = [
                    "params": .object(
                        JSONObject(parameters.filter { call.isMaster || !$0.isPrivate }.map { ($0.name, $0.value) }))
                ]
                if call.isMaster, !parameters.isEmpty {
                    reply["masterKeyOnly"] = .object(JSONObject(parameters.map { ($0.name, .bool($0.isPrivate)) }))
                }
                return WireReply(.object(reply))
            }
        case .put:
            guard call.isMaster else { throw ParseError.masterKeyRequired }
            try options.prohibitedNames.check(call.body)
            let change = try ConfigChange(call.body)
            try await makeServiceClass(ServiceClasses.config)
            return try await apply(change, call)
        default: throw ParseError.impossible(call)
        }
    }
}

/// A configuration parameter.
struct ConfigParameter: Hashable, Sendable {
    var name: String
    var value: JSONValue
    /// Whether only the master key may read the parameter.
    var isPrivate = false
}

/// The changes of parameters in a request.
struct ConfigChange: Sendable {
    /// The maximum number of parameters.
    static let maximumCount = 1000

    /// The new values; `nil` deletes a parameter.
    private(set) var values: [(name: String, value: JSONValue?)] = []
    /// Whether only the master key may read a parameter, for each parameter in `masterKeyOnly`.
    private(set) var isPrivate: [String: Bool] = [:]

    /// Reads the body of a request.
    ///
    /// - Throws: ``ParseError`` 105 for an invalid name, 107 for `params` that isn't an object and for operations other
    ///   than `Delete`, 111 for typed values that are invalid.
    init(_ body: JSONObject) throws(ParseError) {
        for (name, value) in try Self.members("params", of: body) {
            guard ParseNames.isPlain(name), name.utf8.count <= 128 else {
                throw ParseError(.invalidKeyName, "Invalid name of a parameter: \(name.prefix(128)).")
            }
            if value.isNull || value["__op"]?.string == "Delete" {
                values.append((name, nil))
                continue
            }
            guard value["__op"] == nil else {
                throw ParseError(.invalidJSON, "\(name): a parameter is set as a whole, or deleted")
            }
            let stored = try value.withPointers.stored(in: name)
            if let type = try FieldType(of: stored, in: name) {
                try FieldDecoder.validate(stored, as: type, in: name)
            }
            values.append((name, stored))
        }
        for (name, value) in try Self.members("masterKeyOnly", of: body) where !value.isNull {
            guard case .bool(let isOn) = value else {
                throw ParseError(.invalidJSON, "masterKeyOnly.\(name.prefix(128)) must be true or false")
            }
            isPrivate[name] = isOn
        }
    }

    /// The parameters after the change, in the order of their names. A private parameter stays private unless the
    /// request changes this.
    ///
    /// - Throws: ``ParseError`` 102 for a `masterKeyOnly` without its parameter, which may be misspelt; 105 for too
    ///   many.
    func applied(to known: [ConfigParameter]) throws(ParseError) -> [ConfigParameter] {
        var parameters = Dictionary(known.map { ($0.name, $0) }) { first, _ in first }
        for (name, value) in values {
            guard let value else {
                parameters[name] = nil
                continue
            }
            parameters[name, default: ConfigParameter(name: name, value: value)].value = value
        }
        let deleted = Set(values.lazy.filter { $0.value == nil }.map(\.name))
        for (name, isPrivate) in isPrivate where !deleted.contains(name) {
            guard parameters[name] != nil else {
                throw ParseError(.invalidQuery, "masterKeyOnly names \(name.prefix(128)), which isn't a parameter")
            }
            parameters[name]?.isPrivate = isPrivate
        }
        guard parameters.count <= Self.maximumCount else {
            throw ParseError(.invalidKeyName, "there are at most \(Self.maximumCount) parameters")
        }
        return parameters.values.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    private static func members(_ name: String, of body: JSONObject) throws(ParseError) -> JSONObject {
        guard let value = body[name], !value.isNull else { return [:] }
        guard let members = value.object else { throw ParseError(.invalidJSON, "\(name) must be an object") }
        return members
    }
}

extension ParseTransaction {
    /// The parameters, in the order of their names.
    func configParameters() throws -> [ConfigParameter] {
        guard AccountClasses.isThere(ServiceClasses.config, in: storedClasses.schema) else { return [] }
        return try accountRows(ServiceClasses.config, []) { table, _ in
            "SELECT name, value, \"isPrivate\" FROM \(table)"
        }.map { row in
            ConfigParameter(
                name: row[0].plainText ?? "", value: try JSONParser.parse(row[1].plainText ?? ""),
                isPrivate: row[2].wholeNumber == 1)
        }.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// Stores other parameters instead of those that are stored.
    func replace(_ stored: [ConfigParameter], with wanted: [ConfigParameter]) throws {
        func byName(_ all: [ConfigParameter]) -> [String: ConfigParameter] {
            Dictionary(all.map { ($0.name, $0) }) { first, _ in first }
        }
        let (known, parameters) = (byName(stored), byName(wanted))
        for name in Set(known.keys).union(parameters.keys).sorted() where known[name] != parameters[name] {
            guard let new = parameters[name] else {
                try changeAccounts(ServiceClasses.config, [.text(name)]) { table, values in
                    "DELETE FROM \(table) WHERE name = \(values[0])"
                }
                continue
            }
            try changeAccounts(
                ServiceClasses.config,
                [.text(name), .text(JSONWriter.text(new.value)), .integer(new.isPrivate ? 1 : 0)]
            ) { table, values in
                """
                INSERT INTO \(table) (name, value, "isPrivate") VALUES (\(values.joined(separator: ", ")))
                ON CONFLICT (name) DO UPDATE SET value = excluded.value, "isPrivate" = excluded."isPrivate"
                """
            }
        }
    }
}
