import Foundation
import RelataCore

/// Comparison with values.
extension ConditionReader {
    func equals(_ value: JSONValue, _ target: Target) throws(ParseError) -> ExpressionNode {
        if value.isNull { return target.isNull }
        if value["$relativeTime"] != nil {
            throw ParseError(
                .invalidJSON, "$relativeTime can only be used with the $lt, $lte, $gt, and $gte operators")
        }
        try Self.check(value)
        return target.any(testsArrays: value.array != nil) { $0.equals(value) }
    }

    func compares(
        _ comparison: ComparisonOperator, _ operation: Operation, _ target: Target
    ) throws(ParseError) -> ExpressionNode {
        var value = operation.operand
        if let text = value["$relativeTime"] {
            guard target.mayBeDate else {
                throw operation.malformed("$relativeTime can only be used with Date field")
            }
            try Self.check(value, allows: ["$relativeTime"])
            value = try date(text, operation)
        }
        switch value {
        case .null: throw operation.wrong("can't compare with null: use $exists")
        case .array: throw operation.wrong("can't compare with an array")
        case .object(let members) where members["__type"]?.string != "Date":
            throw operation.wrong("compares numbers, strings, booleans and dates only")
        default:
            try Self.check(value)
            return target.any { $0.compares(comparison, value) }
        }
    }

    /// Whether any of the values is in a list. Arrays in the list count as their elements; a regular expression counts
    /// as the texts that it matches.
    mutating func isOne(
        of list: [JSONValue], _ target: Target, _ operation: Operation
    ) throws(ParseError) -> ExpressionNode {
        let values = list.flatMap { value in value.array ?? [value] }
        var set: [JSONValue] = []
        var choices: [ExpressionNode] = []
        for value in values where !value.isNull {
            if value["$regex"] != nil {
                try countOperator(target.places)
                choices.append(try matches(value, operation, target))
            } else {
                try Self.check(value)
                set.append(value)
            }
        }
        if !set.isEmpty || choices.isEmpty { choices.insert(target.any { $0.isOne(of: set) }, at: 0) }
        if values.contains(where: \.isNull) { choices.append(target.isNull) }
        return choices.count == 1 ? choices[0] : .or(choices)
    }

    /// - Throws: ``ParseError`` 107 for an operator in the place of a value.
    static func check(_ value: JSONValue) throws(ParseError) {
        guard let members = value.object, members.keys.contains(where: { $0.hasPrefix("$") }) else { return }
        throw ParseError(.invalidJSON, "bad atom: \(JSONWriter.text(value).prefix(256))")
    }

    /// Refuses unknown members beside the operators of an operand: they would have no effect, which isn't what the
    /// client intends.
    ///
    /// - Throws: ``ParseError`` 107, as for an unknown operator of a field.
    static func check(_ operand: JSONValue, allows names: [String]) throws(ParseError) {
        guard let members = operand.object else { return }
        for name in members.keys where !names.contains(name) {
            throw ParseError(.invalidJSON, "bad constraint: \(name.prefix(64))")
        }
    }

    private func matches(
        _ value: JSONValue, _ operation: Operation, _ target: Target
    ) throws(ParseError) -> ExpressionNode {
        try Self.check(value, allows: ["$regex", "$options"])
        let inner = Operation(name: "$regex", operand: value["$regex"] ?? .null, field: operation.field)
        let pattern = try Pattern(inner, options: value["$options"])
        return target.any { pattern.condition(on: $0) }
    }

    /// Whether each of a list is among the values.
    mutating func hasAll(_ operation: Operation, _ target: Target) throws(ParseError) -> ExpressionNode {
        let list = try operation.list()
        let patterns = list.count { $0["$regex"] != nil }
        guard patterns == 0 || patterns == list.count else {
            throw operation.malformed(
                "All $all values must be of regex type or none: \(JSONWriter.text(.array(list)).prefix(256))")
        }
        var conditions: [ExpressionNode] = []
        for value in list {
            try countOperator(target.places)
            conditions.append(
                patterns > 0 ? try matches(value, operation, target) : try equals(value, target))
        }
        return list.isEmpty ? Self.nothing : .and(conditions)
    }

    /// Whether the value has several values, all of them in a list.
    func isContained(by operation: Operation, _ target: Target) throws(ParseError) -> ExpressionNode {
        guard let list = operation.operand.array else {
            throw operation.malformed("bad $containedBy: should be an array")
        }
        for value in list { try Self.check(value) }
        return target.or(isSelfContained(by: list, target)) { isSelfContained(by: list, $0) }
    }

    private func isSelfContained(by list: [JSONValue], _ target: Target) -> ExpressionNode {
        let values = list.filter { !$0.isNull }
        if let elements = target.elements {
            let element = Source.json(JSONPlace(.element(scope: elements.scope)))
            let isOther = ExpressionNode.not(element.isOne(of: values))
            let others = ExpressionNode.anyElement(
                elements, condition: values.count < list.count ? .and([element.isSet, isOther]) : isOther)
            let isArray =
                target.isArray
                ? target.source.isSet
                : .or([target.source.equals(.array([])), .anyElement(elements, condition: Self.everything)])
            return target.wrapped(.and([isArray, .not(others)]))
        }
        guard case .related? = target.ways.last else { return Self.nothing }
        return .not(target.wrapped(.not(target.source.isOne(of: values))))
    }

    // MARK: Relative time

    /// `in 2 weeks 1 day`, `3 hours ago`, `now`.
    private func date(_ text: JSONValue, _ operation: Operation) throws(ParseError) -> JSONValue {
        guard let text = text.string, let seconds = Self.seconds(text) else {
            throw operation.malformed(
                "bad $relativeTime (\(operation.name)) value. It is \"now\", or begins with \"in\" or ends with \"ago\", with whole numbers of years, weeks, days, hours, minutes and seconds between"
            )
        }
        let date = now.addingTimeInterval(seconds)
        guard let time = DateText.microseconds(of: date), DateText.textRange.contains(time) else {
            throw operation.wrong("has a $relativeTime beyond the years 0 to 9999")
        }
        return ["__type": "Date", "iso": .string(DateText.parseText(date))]
    }

    private static func seconds(_ text: String) -> Double? {
        var parts = text.lowercased().split(separator: " ")[...]
        if parts == ["now"] { return 0 }
        let sign: Double
        if parts.first == "in", parts.last != "ago" {
            parts.removeFirst()
            sign = 1
        } else if parts.last == "ago", parts.first != "in" {
            parts.removeLast()
            sign = -1
        } else {
            return nil
        }
        guard parts.count.isMultiple(of: 2) else { return nil }
        var seconds = 0.0
        while let number = parts.popFirst(), let unit = parts.popFirst() {
            guard let number = Int32(number), let length = units[unit.hasSuffix("s") ? unit.dropLast() : unit] else {
                return nil
            }
            seconds += Double(number) * length
        }
        return sign * seconds
    }

    private static let units: [Substring: Double] = [
        "yr": 31_536_000, "year": 31_536_000, "wk": 604_800, "week": 604_800, "d": 86_400, "day": 86_400, "hr": 3600,
        "hour": 3600, "min": 60, "minute": 60, "sec": 1, "second": 1,
    ]
}

/// Tests of one value.
extension Source {
    /// Whether it equals a value, which isn't null.
    func equals(_ value: JSONValue) -> ExpressionNode {
        switch self {
        case .missing: return ConditionReader.nothing
        case .object(let node, let parseClass, let isPointer):
            let keys = Self.keys(value, of: parseClass, isPointer: isPointer)
            return keys.isEmpty ? ConditionReader.nothing : .keyIn(node, keys)
        case .column(let node, let type, let acceptsText):
            guard let value = Self.value(value, as: type, acceptsText: acceptsText) else {
                return ConditionReader.nothing
            }
            return .comparison(.equal, node, .value(value), [])
        case .json(let place): return place.equals(value)
        }
    }

    func compares(_ comparison: ComparisonOperator, _ value: JSONValue) -> ExpressionNode {
        switch self {
        case .missing: return ConditionReader.nothing
        case .object(let node, let parseClass, let isPointer):
            guard !isPointer, let key = Self.keys(value, of: parseClass, isPointer: false).first else {
                return ConditionReader.nothing
            }
            return Self.compares(comparison, node, parseClass, key)
        case .column(let node, let type, let acceptsText):
            guard let value = Self.value(value, as: type, acceptsText: acceptsText) else {
                return ConditionReader.nothing
            }
            return .comparison(comparison, node, .value(value), [])
        case .json(let place): return place.compares(comparison, value)
        }
    }

    /// Whether it is equal to one of several values, all of which are set.
    func isOne(of values: [JSONValue]) -> ExpressionNode {
        switch self {
        case .missing: return ConditionReader.nothing
        case .object(let node, let parseClass, let isPointer):
            let keys = values.flatMap { Self.keys($0, of: parseClass, isPointer: isPointer) }
            return keys.isEmpty ? ConditionReader.nothing : .keyIn(node, keys)
        case .column(let node, let type, let acceptsText):
            let known = values.compactMap { Self.value($0, as: type, acceptsText: acceptsText) }
            return known.isEmpty ? ConditionReader.nothing : .valueIn(node, known, [])
        case .json(let place): return place.isOne(of: values)
        }
    }

    // MARK: Keys

    /// The keys that the object may have which a value names: one, unless keys of other types may be stored.
    private static func keys(_ value: JSONValue, of parseClass: ParseClass, isPointer: Bool) -> [KeyValue] {
        if let id = value.string { return parseClass.objectID.keys(id) }
        guard isPointer, let pointer = Pointer(value), pointer.className == parseClass.name else { return [] }
        return parseClass.objectID.keys(pointer.objectID)
    }

    /// A compound key compares by its first part, then by the next.
    private static func compares(
        _ comparison: ComparisonOperator, _ node: ExpressionNode, _ parseClass: ParseClass, _ key: KeyValue
    ) -> ExpressionNode {
        guard key.values.count > 1, case .property(let scope, let path) = node else {
            return .comparison(comparison, node, .value(key.values[0]), [])
        }
        let table = parseClass.table
        let isStrict = comparison == .less || comparison == .greater
        let strict: ComparisonOperator = comparison == .less || comparison == .lessOrEqual ? .less : .greater
        var condition: ExpressionNode?
        for (column, value) in zip(table.keyColumns, key.values).reversed() {
            let part = ExpressionNode.property(scope: scope, path: path + [table.columns[column].property])
            guard let rest = condition else {
                condition = .comparison(isStrict ? strict : comparison, part, .value(value), [])
                continue
            }
            condition = .or([
                .comparison(strict, part, .value(value), []),
                .and([.comparison(.equal, part, .value(value), []), rest]),
            ])
        }
        return condition ?? ConditionReader.nothing
    }

    // MARK: Columns

    /// The value of a column for a JSON value; `nil` if the column can't hold it.
    private static func value(_ json: JSONValue, as type: AttributeType, acceptsText: Bool) -> Value? {
        let value: Value? =
            switch (type, json) {
            case (.boolean, .bool(let value)): .integer(value ? 1 : 0)
            case (.integer, .integer(let value)), (.real, .integer(let value)), (.decimal, .integer(let value)):
                .integer(value)
            case (.integer, .double(let value)), (.real, .double(let value)), (.decimal, .double(let value)):
                .real(value)
            case (.text, .string(let text)): .text(text)
            case (.uuid, .string(let text)): Value.text(text).stored(as: type)
            case (.date, .object),
                (.date, .string) where acceptsText || json.string == nil:
                FieldDecoder.microseconds(json).map { .integer($0) }
            case (.data, .object): FieldDecoder.bytes(json).map { .blob($0) }
            default: nil
            }
        guard let stored = value?.stored(as: type), !stored.isNull else { return nil }
        return stored
    }
}

/// Tests of a value in JSON.
extension JSONPlace {
    func equals(_ value: JSONValue) -> ExpressionNode { isOne(of: [value]) }

    func isOne(of values: [JSONValue]) -> ExpressionNode {
        var found: [JSONKind: [Value]] = [:]
        var files: [Value] = []
        for value in values {
            switch value {
            case .null: break
            case .bool(let value): found[.boolean, default: []].append(.integer(value ? 1 : 0))
            case .integer(let number): found[.number, default: []].append(.integer(number))
            case .double(let number): found[.number, default: []].append(.real(number))
            case .string(let text): found[.text, default: []].append(.text(text))
            // The address of a file may change; its name identifies it.
            case .object where value["__type"] == "File" && value["name"]?.string != nil:
                files.append(.text(value["name"]?.string ?? ""))
            case .array, .object: found[.compound, default: []].append(.text(text(value)))
            }
        }
        var choices: [ExpressionNode] = []
        for kind in [JSONKind.number, .text, .boolean, .compound] {
            guard let values = found[kind] else { continue }
            // A value that fills a column needs no reading of JSON.
            let node = kind == .compound ? base(orAs: kind) : read(kind)
            choices.append(
                values.count == 1
                    ? .comparison(.equal, node, .value(values[0]), []) : .valueIn(node, values, []))
        }
        if !files.isEmpty {
            choices.append(
                .and([
                    .comparison(.equal, self["__type"].read(.text), .value("File"), []),
                    .valueIn(self["name"].read(.text), files, []),
                ]))
        }
        return choices.count == 1 ? choices[0] : .or(choices)
    }

    /// Numbers compare with numbers, strings with strings, dates with dates.
    func compares(_ comparison: ComparisonOperator, _ value: JSONValue) -> ExpressionNode {
        switch value {
        case .bool(let value): .comparison(comparison, read(.boolean), .value(.integer(value ? 1 : 0)), [])
        case .integer(let number): .comparison(comparison, read(.number), .value(.integer(number)), [])
        case .double(let number): .comparison(comparison, read(.number), .value(.real(number)), [])
        case .string(let text): .comparison(comparison, read(.text), .value(.text(text)), [])
        case .object:
            // ISO 8601 sorts in the order of time.
            value.withStoredDates["iso"]?.string.map { iso in
                .and([
                    .comparison(.equal, self["__type"].read(.text), .value("Date"), []),
                    .comparison(comparison, self["iso"].read(.text), .value(.text(iso)), []),
                ])
            } ?? ConditionReader.nothing
        case .null, .array: ConditionReader.nothing
        }
    }

    /// The text of a value as it is stored. An included object counts as its pointer.
    private func text(_ value: JSONValue) -> String {
        if value["__type"] == "Object", let pointer = Pointer(value) { return JSONWriter.canonicalText(pointer.json) }
        if case .column = base, path.isEmpty, let polygon = try? Polygon(value, of: "") {
            return JSONWriter.canonicalText(polygon.json)
        }
        return JSONWriter.canonicalText(value.withStoredDates)
    }
}
