import RelataCore

/// Pointers and relations, which are written after all objects.
extension ParseImport {
    func link(_ page: [JSONObject], of name: String) async throws {
        var report = reports[name] ?? Report(name: name)
        defer { reports[name] = report }
        if refusedClasses.contains(name) { return }
        var requests: [(method: String, path: String, body: JSONObject)] = []
        for object in page.map({ read($0, of: name) }) where object.refusal == nil {
            guard let id = object.id else { continue }
            for (field, value) in object.badPointers.sorted(by: { $0.key < $1.key }) {
                report.dangling += 1
                note("\(name)/\(id): \(field) stays unset: \(value) isn't a pointer, such as \"Book$x7Yz\"")
            }
            let pointers = object.members.filter { $0.value.isPointer }
            if !pointers.isEmpty { requests.append(("PUT", Self.path(name, id), pointers)) }
        }
        let errors = try await batch(requests)
        var again: [(method: String, path: String, body: JSONObject)] = []
        for (request, error) in zip(requests, errors) {
            if error == nil {
                report.links += request.body.count
            } else {
                again += request.body.map { (request.method, request.path, [$0.key: $0.value]) }
            }
        }
        for (request, error) in zip(again, try await batch(again)) {
            guard let error else {
                report.links += 1
                continue
            }
            report.dangling += 1
            let field = request.body.first.map(\.key) ?? ""
            note("\(request.path.dropFirst(9)): \(field) stays unset: \(error.message)")
        }
    }

    private static func path(_ name: String, _ id: String) -> String {
        "/classes/\(name)/" + (id.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? id)
    }

    /// Adds the rows of a relation that the source stores separately: `_Join:books:Author`.
    func join(_ page: [JSONObject], _ join: String) async throws {
        let parts = join.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, !parts[1].isEmpty, !parts[2].isEmpty else {
            note("\(join) isn't the name of a relation")
            return
        }
        let (field, name) = (parts[1], parts[2])
        guard isMovable(name), !refusedClasses.contains(name) else { return }
        guard let target = try await target(of: field, name) else {
            note("\(join) isn't moved: the class of its objects is unknown: export _SCHEMA as well")
            return
        }
        var members: [(owner: String, members: [String])] = []
        for row in page {
            guard let owner = row["owningId"]?.string, let member = row["relatedId"]?.string else {
                reports[name, default: Report(name: name)].dangling += 1
                note("\(join): a row needs an owningId and a relatedId, as text")
                continue
            }
            if members.last?.owner == owner {
                members[members.count - 1].members.append(member)
            } else {
                members.append((owner, [member]))
            }
        }
        try await add(members, field, name, target)
    }

    /// The class of a relation's objects.
    private func target(of field: String, _ name: String) async throws -> String? {
        if name == InternalClasses.role {
            return field == "users" ? InternalClasses.user : InternalClasses.role
        }
        let described = classes[name]?.fields[field]?["targetClass"]?.string
        if let described { return described }
        let schema = try? await answer(.get, ["schemas", name], [:])
        return schema?["fields"]?[field]?["targetClass"]?.string
    }

    /// Adds the members of relations, which are fetched object by object.
    func relate(_ page: [JSONObject], of name: String) async throws {
        if refusedClasses.contains(name) { return }
        let fields = (classes[name]?.fields ?? [:]).filter {
            $0.value["type"] == "Relation"
        }
        for (field, value) in fields {
            guard let target = value["targetClass"]?.string else { continue }
            for object in page {
                guard let id = object["objectId"]?.string,
                    let members = try await source.members(of: field, name, id, target: target)
                else { continue }
                try await add([(id, members)], field, name, target)
            }
        }
    }

    private func add(
        _ relations: [(owner: String, members: [String])], _ field: String, _ name: String,
        _ target: String
    ) async throws {
        var report = reports[name] ?? Report(name: name)
        defer { reports[name] = report }
        typealias Request = (method: String, path: String, body: JSONObject)
        func request(_ owner: String, _ members: [String]) -> Request {
            let objects = members.map { member -> JSONValue in
                ["__type": "Pointer", "className": .string(target), "objectId": .string(member)]
            }
            return (
                "PUT", Self.path(name, owner), [field: ["__op": "AddRelation", "objects": .array(objects)]]
            )
        }
        let wanted = relations.filter { !$0.members.isEmpty }
        let errors = try await batch(wanted.map { request($0.owner, $0.members) })
        var again: [Request] = []
        for (relation, error) in zip(wanted, errors) {
            if error == nil {
                report.links += relation.members.count
            } else {
                again += relation.members.map { request(relation.owner, [$0]) }
            }
        }
        for (request, error) in zip(again, try await batch(again)) {
            guard let error else {
                report.links += 1
                continue
            }
            report.dangling += 1
            note("\(request.path.dropFirst(9)): \(field) lacks an object: \(error.message)")
        }
    }
}
