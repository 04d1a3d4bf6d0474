import RelataCore

/// Classes, which are created before their objects. Impossible parts are reported, and the import continues.
extension ParseImport {
    /// The described classes that are moved, by their names.
    var movableClasses: [ImportedClass] {
        classes.values.filter { isMovable($0.name) && !refusedClasses.contains($0.name) }.sorted { $0.name < $1.name }
    }

    /// Whether the objects of a class are moved: those of the server's other classes aren't.
    func isMovable(_ name: String) -> Bool { !name.hasPrefix("_") || Self.movable.contains(name) }

    /// Creates missing classes. One that can't be made here is refused with its objects.
    ///
    /// - Parameter names: The classes with objects.
    func makeClasses(_ names: [String]) async throws {
        let known = Self.movable.union(try await knownFields().keys)
        for name in Set(names + movableClasses.map(\.name)).subtracting(known).sorted() {
            guard let error = try await refusal(of: .post, name, ["className": .string(name)]) else { continue }
            refusedClasses.insert(name)
            note("the class \(name) can't be made, and its objects are refused: \(error.message)")
        }
    }

    /// The names of the fields of existing classes.
    private func knownFields() async throws -> [String: Set<String>] {
        var fields: [String: Set<String>] = [:]
        for json in try await answer(.get, ["schemas"], [:])["results"]?.array ?? [] {
            guard let name = json["className"]?.string else { continue }
            fields[name] = Set(json["fields"]?.object?.map(\.key) ?? [])
        }
        return fields
    }

    /// Gives the classes their fields and permissions. All classes must exist, because pointers lead to them.
    func describeClasses() async throws {
        var known = try await knownFields()
        // These fields always exist, even if the source doesn't describe them.
        known[InternalClasses.user, default: []].formUnion(InternalClasses.userFields)
        for own in movableClasses {
            let fields = own.fields.filter { known[own.name]?.contains($0.key) != true }
            let permissions = own.permissions.map { plainPermissions($0, of: own) }
            var body: JSONObject = ["className": .string(own.name), "fields": .object(fields)]
            body["classLevelPermissions"] = permissions
            if try await refusal(of: .put, own.name, body) == nil { continue }
            for (field, description) in fields.sorted(by: { $0.key < $1.key }) {
                try await describe(own, ["fields": .object([field: description])], "the field \(field)")
            }
            if let permissions { try await permit(own, permissions) }
        }
    }

    /// Gives a class its permissions. If they are impossible, the class is closed, rather than open to everybody.
    private func permit(_ own: ImportedClass, _ permissions: JSONValue) async throws {
        guard let error = try await refusal(of: .put, own.name, ["classLevelPermissions": permissions]) else { return }
        _ = try await answer(.put, ["schemas", own.name], ["classLevelPermissions": [:]])
        note(
            "\(own.name): its permissions can't be imported, so only the master key may use it until it gets new ones: \(error.message)"
        )
    }

    /// The permissions without `userField:` of fields that can't lead to users. Fields are hidden from more callers without
    /// them.
    private func plainPermissions(_ json: JSONValue, of own: ImportedClass) -> JSONValue {
        guard var permissions = json.object, let fields = permissions["protectedFields"]?.object else {
            return json
        }
        let kept = fields.filter { name, _ in
            guard name.hasPrefix(ClassPermissions.userField) else { return true }
            let field = String(name.dropFirst(ClassPermissions.userField.count))
            if own.leadsToUsers(field) { return true }
            note("\(own.name): protectedFields has \(name), but \(field) is neither a pointer to users nor an array")
            return false
        }
        permissions["protectedFields"] = .object(kept)
        return .object(permissions)
    }
}
