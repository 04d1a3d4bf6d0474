import RelataCore

/// Rules of fields and indexes. They come last: rules apply to later writes, and older objects needn't follow them.
extension ParseImport {
    func setRules() async throws {
        for own in movableClasses {
            var fields: JSONObject = [:]
            for (field, rules) in own.rules.sorted(by: { $0.key < $1.key }) {
                guard let known = own.fields[field]?.object else { continue }
                fields[field] = .object(known.merging(rules))
            }
            let indexes = own.indexes.filter { $0.key != "_id_" && !hasIndex($0.value, own.name) }
            if fields.isEmpty, indexes.isEmpty { continue }
            let body: JSONObject = ["fields": .object(fields), "indexes": .object(indexes)]
            if try await refusal(of: .put, own.name, body) == nil { continue }
            for (field, description) in fields {
                try await describe(own, ["fields": .object([field: description])], "the rules of \(field)")
            }
            for (index, members) in indexes {
                try await describe(own, ["indexes": .object([index: members])], "the index \(index)")
            }
        }
    }

    /// Whether the server has its own index for these fields.
    private func hasIndex(_ members: JSONValue, _ name: String) -> Bool {
        let given: Set<String> =
            switch name {
            case InternalClasses.user: InternalClasses.userFields
            case InstallationClass.name: ["installationId", "deviceToken"]
            default: ["name"]
            }
        return Self.movable.contains(name) && members.object?.allSatisfy { given.contains($0.key) } == true
    }

    /// Adds something to a class. Impossible parts are reported, and the import continues.
    func describe(_ own: ImportedClass, _ part: JSONObject, _ what: String) async throws {
        guard let error = try await refusal(of: .put, own.name, part) else { return }
        note("\(own.name): \(what) can't be imported: \(error.message)")
    }
}
