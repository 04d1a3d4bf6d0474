import RelataCore

/// The documents that stages produce.
extension PipelineStage {
    /// The fields that it reads, so that the objects of pointers on their paths are fetched.
    var fields: [[String]] {
        switch self {
        case .match(let conditions): DocumentMatch.fields(conditions)
        case .group(let id, let fields): id.fields + fields.flatMap(\.value.fields)
        case .project(let projection): (projection.shown ?? []) + projection.made.flatMap(\.value.fields)
        case .addFields(let members): members.flatMap(\.value.fields)
        case .sort(let keys): keys.map(\.path)
        case .unwind(let path, _, _): [path]
        case .remove, .limit, .skip, .count: []
        }
    }

    /// The documents after the stage.
    ///
    /// - Parameter limit: The number of bytes they may take.
    /// - Throws: ``ParseError`` 102 for conditions that don't work on documents, and 116 if it exceeds the budget.
    func applied(to documents: [JSONValue], limit: Int) throws -> [JSONValue] {
        var budget = PipelineBudget(limit)
        switch self {
        case .match(let conditions):
            return try DocumentMatch(conditions).filter(documents)
        case .group(let id, let fields): return try Self.groups(of: documents, by: id, fields, &budget)
        case .project(let projection): return try budget.map(documents) { try projection.applied(to: $0, &$1) }
        case .addFields(let members): return try budget.map(documents) { try $0.setting(members, from: $0, &$1) }
        case .remove(let paths): return documents.map { $0.removing(paths) }
        case .sort(let keys):
            return documents.sorted { left, right in
                for key in keys {
                    let (first, second) = (left.value(at: key.path[...]), right.value(at: key.path[...]))
                    if first.precedes(second) { return key.isAscending }
                    if second.precedes(first) { return !key.isAscending }
                }
                return false
            }
        case .limit(let count): return Array(documents.prefix(count))
        case .skip(let count): return Array(documents.dropFirst(count))
        case .count(let name):
            return documents.isEmpty ? [] : [.object([name: .integer(Int64(documents.count))])]
        case .unwind(let path, let keepsEmpty, let index):
            var made: [JSONValue] = []
            for document in documents {
                try Self.unwind(document, path, keepsEmpty: keepsEmpty, index) { (document) throws in
                    try budget.add(document)
                    made.append(document)
                }
            }
            return made
        }
    }

    private static func unwind(
        _ document: JSONValue, _ path: [String], keepsEmpty: Bool, _ index: String?, _ add: (JSONValue) throws -> Void
    ) throws {
        let value = document.value(at: path[...])
        guard let elements = value.array else {
            if !value.isNull || keepsEmpty { try add(document) }
            return
        }
        if elements.isEmpty, keepsEmpty { try add(document.setting(nil, at: path[...])) }
        for (number, element) in elements.enumerated() {
            let one = document.setting(element, at: path[...])
            try add(index.map { one.setting(.integer(Int64(number)), at: [$0]) } ?? one)
        }
    }

    // MARK: Groups

    private static func groups(
        of documents: [JSONValue], by id: DocumentExpression, _ fields: [Figure], _ budget: inout PipelineBudget
    ) throws -> [JSONValue] {
        var places: [JSONValue: Int] = [:]
        var groups: [(id: JSONValue, documents: [JSONValue])] = []
        for document in documents {
            var value = try id.value(of: document, &budget)
            try budget.add(value)
            if case .field = id, let pointer = Pointer(value) { value = .string(pointer.objectID) }
            let place = places[value] ?? groups.count
            if place == groups.count {
                places[value] = place
                groups.append((value, []))
            }
            groups[place].documents.append(document)
        }
        var made: [JSONValue] = []
        for group in groups.sorted(by: { $0.id.precedes($1.id) }) {
            var members: JSONObject = ["objectId": group.id]
            for field in fields {
                let values = try budget.map(group.documents) { try field.value.value(of: $0, &$1) }
                members[field.name] = field.accumulator.value(of: values)
            }
            made.append(.object(members))
        }
        return made
    }
}

extension PipelineStage.Accumulator {
    fileprivate func value(of values: [JSONValue]) -> JSONValue {
        switch self {
        case .count: return .integer(Int64(values.count))
        case .sum: return values.reduce(.integer(0)) { $0.adding($1) ?? $0 }
        case .average:
            let numbers = values.compactMap(\.number)
            return numbers.isEmpty ? .null : JSONValue(finite: numbers.reduce(0, +) / Double(numbers.count))
        case .minimum: return values.filter { !$0.isNull }.min { $0.precedes($1) } ?? .null
        case .maximum: return values.filter { !$0.isNull }.max { $0.precedes($1) } ?? .null
        case .first: return values.first ?? .null
        case .last: return values.last ?? .null
        case .push: return .array(values.filter { !$0.isNull })
        case .addToSet: return .array(Set(values.filter { !$0.isNull }).sorted { $0.precedes($1) })
        }
    }
}

extension PipelineStage.Projection {
    fileprivate func applied(to document: JSONValue, _ budget: inout PipelineBudget) throws -> JSONValue {
        guard let shown else {
            let result = document.removing(hidden)
            return hidesID ? result.removing([["objectId"]]) : result
        }
        var result = JSONValue.object([:])
        for path in hidesID ? shown : [["objectId"]] + shown {
            let value = document.value(at: path[...])
            if !value.isNull { result = result.setting(value, at: path[...]) }
        }
        return try result.setting(made, from: document, &budget)
    }
}

extension JSONValue {
    fileprivate func setting(
        _ members: [PipelineStage.Member], from document: JSONValue, _ budget: inout PipelineBudget
    ) throws -> JSONValue {
        var result = self
        for member in members {
            result = result.setting(try member.value.value(of: document, &budget), at: member.path[...])
        }
        return result
    }

    fileprivate func removing(_ paths: [[String]]) -> JSONValue { paths.reduce(self) { $0.setting(nil, at: $1[...]) } }
}
