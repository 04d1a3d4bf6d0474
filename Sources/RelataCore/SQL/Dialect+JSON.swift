/// The SQL that reads JSON text. Text that isn't JSON, as another program may have left it, reads as nothing.
extension Dialect {
    /// A path in a JSON value, as a bound value.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` for a member whose name the engine can't express.
    func jsonPath(_ path: [JSONStep]) throws(RelataError) -> String {
        // In its other mode, PostgreSQL looks for the members of an array in its elements.
        var text = self == .sqlite ? "$" : "strict $"
        for step in path {
            switch step {
            case .index(let index): text.append("[\(index)]")
            case .member(let name):
                guard name.unicodeScalars.allSatisfy({ $0 != "\"" && $0 != "\\" && $0.value >= 0x20 }) else {
                    throw .invalidUse(
                        "a member of a JSON value can't be asked for by a name with quotes, backslashes or control characters"
                    )
                }
                text.append(".\"\(name)\"")
            }
        }
        return text
    }

    /// The bound value for a path, as the functions below take it.
    func jsonPlace(_ parameter: String) -> String {
        self == .sqlite ? parameter : "\(parameter)::jsonpath"
    }

    /// A value as JSON that the functions below read.
    func jsonSource(_ sql: String, of type: AttributeType?) -> String {
        self == .sqlite || type == .json ? sql : "relata.json(\(sql))"
    }

    /// The part of a JSON text at a path.
    func json(_ text: String, at path: String, as kind: JSONKind) -> String {
        if self == .postgres { return jsonValue("relata.json_at(\(text), \(path))", as: kind) }
        let (type, value) = ("json_type(\(text), \(path))", "json_extract(\(text), \(path))")
        if kind == .json { return "CASE WHEN json_valid(\(text)) THEN NULLIF(\(text) -> \(path), 'null') END" }
        return "CASE WHEN NOT json_valid(\(text)) THEN NULL " + (kind.condition(type, value) ?? "ELSE \(value)")
            + " END"
    }

    /// Whether a JSON text is an array or an object without anything in it.
    func jsonIsEmpty(_ text: String) -> String {
        self == .sqlite
            ? "CASE WHEN json_valid(\(text)) THEN json(\(text)) IN ('[]', '{}') END"
            : "(\(text) IN ('[]'::jsonb, '{}'::jsonb))"
    }

    /// The number of elements of a JSON text that is an array.
    func jsonElementCount(_ text: String) -> String {
        self == .sqlite
            ? "CASE WHEN NOT json_valid(\(text)) THEN NULL WHEN json_type(\(text)) = 'array' THEN json_array_length(\(text)) END"
            : "CASE WHEN jsonb_typeof(\(text)) = 'array' THEN CAST(jsonb_array_length(\(text)) AS bigint) END"
    }

    /// The element of an array that is a row of ``jsonElements(of:at:)``.
    func jsonElement(_ alias: String, as kind: JSONKind) -> String {
        if self == .postgres { return jsonValue("\(alias).value", as: kind) }
        let (type, value) = ("\(alias).type", "\(alias).value")
        return kind.condition(type, value).map { "CASE \($0) END" } ?? value
    }

    /// The elements of the array at a path of a JSON text, one per row; none without an array.
    func jsonElements(of text: String, at path: String) -> String {
        self == .sqlite
            ? tableFunction(
                "json_each",
                "CASE WHEN NOT json_valid(\(text)) THEN NULL WHEN json_type(\(text), \(path)) = 'array' THEN \(text) END",
                path)
            : "relata.json_elements(relata.json_at(\(text), \(path)))"
    }

    /// Whether values of any kind stay JSON, because a value has one type.
    func keepsJSON(_ kind: JSONKind) -> Bool { self == .postgres && kind == .any }

    /// A JSON value as one of a kind.
    private func jsonValue(_ value: String, as kind: JSONKind) -> String {
        switch kind {
        case .number: "relata.json_number(\(value))"
        case .text: collated("relata.json_string(\(value))")
        case .boolean: "relata.json_boolean(\(value))"
        case .compound: collated("relata.json_compound(\(value))")
        case .any: "relata.json_any(\(value))"
        case .json: collated("relata.json_text(\(value))")
        }
    }
}

extension JSONKind {
    /// The branches of a `CASE` that select values of the kind only; `nil` for all kinds.
    fileprivate func condition(_ type: String, _ value: String) -> String? {
        switch self {
        case .number: "WHEN \(type) IN ('integer', 'real') THEN \(value)"
        case .text: "WHEN \(type) = 'text' THEN \(value)"
        case .boolean: "WHEN \(type) = 'true' THEN 1 WHEN \(type) = 'false' THEN 0"
        case .compound: "WHEN \(type) IN ('object', 'array') THEN \(value)"
        case .any: nil
        case .json:
            "WHEN \(type) IN ('object', 'array') THEN \(value) WHEN \(type) IN ('true', 'false') THEN \(type)"
                + " WHEN \(type) <> 'null' THEN json_quote(\(value))"
        }
    }
}
