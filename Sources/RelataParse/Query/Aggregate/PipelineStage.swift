/// A stage of an aggregation, as clients write it: `{"$group": {"objectId": "$genre", "count": {"$sum": 1}}}`.
enum PipelineStage: Hashable, Sendable {
    case match(JSONValue)
    case group(id: DocumentExpression, fields: [Figure])
    case project(Projection)
    case addFields([Member])
    case remove([[String]])
    case sort([SortKey])
    case limit(Int)
    case skip(Int)
    case count(String)
    case unwind(path: [String], keepsEmpty: Bool, index: String?)

    /// A field and its new value.
    struct Member: Hashable, Sendable {
        let path: [String]
        let value: DocumentExpression
    }

    /// A field of a group and the aggregate that it shows.
    struct Figure: Hashable, Sendable {
        let name: String
        let accumulator: Accumulator
        let value: DocumentExpression
    }

    /// A key of an order.
    struct SortKey: Hashable, Sendable {
        let path: [String]
        let isAscending: Bool
    }

    /// An aggregate of a group's values.
    enum Accumulator: String, Sendable {
        case sum = "$sum"
        case average = "$avg"
        case minimum = "$min"
        case maximum = "$max"
        case count = "$count"
        case first = "$first"
        case last = "$last"
        case push = "$push"
        case addToSet = "$addToSet"
    }

    /// The fields that are shown.
    struct Projection: Hashable, Sendable {
        /// The fields that are shown unchanged; `nil` for all but the hidden ones.
        var shown: [[String]]?
        var hidden: [[String]] = []
        var made: [Member] = []
        var hidesID = false
    }

    /// The number of stages a pipeline may have.
    private static let limit = 100

    /// Reads a pipeline: an array of stages, or an object of them.
    ///
    /// - Throws: ``ParseError`` 102 that names an unknown or invalid stage.
    static func stages(_ json: JSONValue) throws(ParseError) -> [PipelineStage] {
        var stages: [PipelineStage] = []
        let parts: [JSONValue]
        if let members = json.object {
            parts = members.map { .object([$0.key: $0.value]) }
        } else if let array = json.array {
            parts = array
        } else {
            throw ParseError(.invalidQuery, "a pipeline is an array of stages")
        }
        guard parts.count <= limit else {
            throw ParseError(.invalidQuery, "the pipeline has more than \(limit) stages")
        }
        for part in parts {
            guard let members = part.object, let (name, value) = members.first, members.count == 1 else {
                let names = part.object?.keys.sorted().joined(separator: ", ") ?? "none"
                throw ParseError(
                    .invalidQuery, "Pipeline stages should only have one key but found \(names.prefix(128)).")
            }
            stages.append(try stage(name.hasPrefix("$") ? name : "$" + name, value))
        }
        return stages
    }

    private static func stage(_ name: String, _ value: JSONValue) throws(ParseError) -> PipelineStage {
        switch name {
        case "$match":
            guard value.object != nil else { throw wrong(name, "must be an object of conditions") }
            return .match(value)
        case "$group": return try group(value)
        case "$project": return try project(value)
        case "$addFields", "$set": return .addFields(try members(value, of: name))
        case "$unset":
            guard let names = value.string.map({ [$0] }) ?? value.array?.compactMap(\.string) else {
                throw wrong(name, "must name fields")
            }
            return .remove(try names.map { (text) throws(ParseError) in try path(text, of: name) })
        case "$sort": return try sort(value)
        case "$limit", "$skip":
            guard let number = value.integer, number >= 0, let count = Int(exactly: number) else {
                throw wrong(name, "must be a whole number, at least 0")
            }
            return name == "$limit" ? .limit(count) : .skip(count)
        case "$count":
            guard let field = value.string, !field.isEmpty, !field.contains("$"), !field.contains(".") else {
                throw wrong(name, "must be the name of the field that shows the count")
            }
            return .count(field)
        case "$unwind": return try unwind(value)
        default: throw ParseError(.invalidQuery, "Invalid aggregate stage '\(name.prefix(64))'.")
        }
    }

    private static func wrong(_ stage: String, _ message: String) -> ParseError {
        ParseError(.invalidQuery, "\(stage) \(message)")
    }

    // MARK: Stages

    private static func group(_ value: JSONValue) throws(ParseError) -> PipelineStage {
        guard let members = value.object, let id = members["objectId"] ?? members["_id"] else {
            throw ParseError(.invalidQuery, "Invalid parameter for query: group. objectId is required")
        }
        var fields: [Figure] = []
        for (name, value) in members where name != "objectId" && name != "_id" {
            guard let figure = value.object, figure.count == 1, let (operation, argument) = figure.first else {
                throw wrong("$group", "\(name.prefix(64)): must be an object with one accumulator, such as $sum")
            }
            guard let accumulator = Accumulator(rawValue: operation) else {
                throw wrong("$group", "\(name.prefix(64)): \(operation.prefix(64)) isn't supported")
            }
            fields.append(Figure(name: name, accumulator: accumulator, value: try DocumentExpression(argument)))
        }
        // A key of nothing makes all documents one group.
        let isNothing = id == [:] || id == [] || id == ""
        return .group(id: isNothing ? .constant(.null) : try DocumentExpression(id), fields: fields)
    }

    private static func project(_ value: JSONValue) throws(ParseError) -> PipelineStage {
        guard let members = value.object, !members.isEmpty else {
            throw wrong("$project", "must be an object of fields")
        }
        var projection = Projection()
        for (name, value) in members {
            let path = try path(name, of: "$project")
            switch value {
            case .bool(let isShown) where path == ["objectId"]: projection.hidesID = !isShown
            case .integer(let number) where path == ["objectId"]: projection.hidesID = number == 0
            case .bool(true): projection.shown = (projection.shown ?? []) + [path]
            case .integer(let number) where number != 0: projection.shown = (projection.shown ?? []) + [path]
            case .bool(false), .integer: projection.hidden.append(path)
            default: projection.made.append(Member(path: path, value: try DocumentExpression(value)))
            }
        }
        guard projection.hidden.isEmpty || projection.shown == nil && projection.made.isEmpty else {
            throw wrong("$project", "either shows fields or hides them")
        }
        if projection.hidden.isEmpty, projection.shown == nil, !(projection.hidesID && projection.made.isEmpty) {
            projection.shown = []
        }
        return .project(projection)
    }

    private static func members(_ value: JSONValue, of stage: String) throws(ParseError) -> [Member] {
        guard let members = value.object else { throw wrong(stage, "must be an object of fields") }
        var made: [Member] = []
        for (name, value) in members {
            made.append(Member(path: try path(name, of: stage), value: try DocumentExpression(value)))
        }
        return made
    }

    private static func sort(_ value: JSONValue) throws(ParseError) -> PipelineStage {
        var keys: [SortKey] = []
        for part in value.array ?? [value] {
            guard let members = part.object, !members.isEmpty else {
                throw wrong("$sort", "must be an object of fields, the most significant first: {\"price\": -1}")
            }
            for (name, value) in members {
                guard let direction = value.integer, direction == 1 || direction == -1 else {
                    throw wrong("$sort", "\(name.prefix(64)): must be 1 or -1")
                }
                keys.append(SortKey(path: try path(name, of: "$sort"), isAscending: direction == 1))
            }
        }
        return .sort(keys)
    }

    private static func unwind(_ value: JSONValue) throws(ParseError) -> PipelineStage {
        guard let text = value.string ?? value["path"]?.string, text.hasPrefix("$") else {
            throw wrong("$unwind", "needs the path of an array: \"$tags\"")
        }
        return .unwind(
            path: try path(String(text.dropFirst()), of: "$unwind"),
            keepsEmpty: value["preserveNullAndEmptyArrays"]?.bool ?? false, index: value["includeArrayIndex"]?.string)
    }

    private static func path(_ name: String, of stage: String) throws(ParseError) -> [String] {
        guard let path = DocumentExpression.path(name) else {
            throw wrong(stage, "can't use the name \(name.prefix(64))")
        }
        return path
    }
}
