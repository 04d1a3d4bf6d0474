import RelataCore

/// Searching text.
extension ConditionReader {
    /// `{"$search": {"$term": "coffee shop"}}`.
    ///
    /// - Returns: The condition, and the number of found words, if it is known.
    func searches(
        _ operation: Operation, _ target: Target
    ) throws(ParseError) -> (condition: ExpressionNode, score: ExpressionNode?) {
        guard let search = operation.operand["$search"]?.object else {
            throw operation.malformed("bad $text: $search, should be object")
        }
        try Self.check(operation.operand, allows: ["$search"])
        try Self.check(
            .object(search), allows: ["$term", "$language", "$caseSensitive", "$diacriticSensitive"])
        guard let term = search["$term"]?.string, !term.isEmpty else {
            throw operation.malformed("bad $text: $term, should be string")
        }
        // Each word is looked for in each text.
        guard term.utf8.count <= 2000 else { throw operation.refused("is longer than 2000 bytes") }
        guard search["$language"].map({ $0.string != nil }) ?? true else {
            throw operation.malformed("bad $text: $language, should be string")
        }
        var options: TextOptions = []
        if try !flag("$caseSensitive", search, operation) { options.insert(.caseInsensitive) }
        if try !flag("$diacriticSensitive", search, operation) { options.insert(.diacriticInsensitive) }
        var condition = target.any { source in
            source.text.map { .text(.words, $0, .value(.text(term)), options) } ?? Self.nothing
        }
        // The index finds candidates, and only these are searched.
        if var search = target.searched, let text = TextWords(term, options: options).search {
            search.text = text
            condition = .and([.found(search), condition])
        }
        guard target.ways.isEmpty, let text = target.source.text else { return (condition, nil) }
        return (condition, .function(.wordCount(options), [text, .value(.text(term))]))
    }

    private func flag(
        _ name: String, _ members: JSONObject, _ operation: Operation
    ) throws(ParseError) -> Bool {
        guard let value = members[name] else { return false }
        guard let flag = value.bool else { throw operation.malformed("bad $text: \(name), should be boolean") }
        return flag
    }

    /// A regular expression that a part of a text must match.
    struct Pattern {
        /// The expression, with its options.
        let text: String
        private let search: TextOperator
        private let part: String

        /// Reads an expression and its options.
        ///
        /// A text that begins with, or contains, another is sent by clients as a quoted expression, and needs no
        /// regular expression; an index finds a beginning.
        ///
        /// - Throws: ``ParseError`` 102 for an invalid expression.
        init(_ operation: Operation, options: JSONValue?) throws(ParseError) {
            guard let text = operation.operand.string else {
                throw operation.malformed("bad regex: \(JSONWriter.text(operation.operand).prefix(256))")
            }
            guard text.utf8.count <= 10_000 else { throw operation.refused("is longer than 10000 bytes") }
            guard let flags = options == nil ? "" : options?.string, flags.allSatisfy({ "imsxu".contains($0) }) else {
                throw operation.wrong("knows the $options i, m, s, x and u only")
            }
            let known = String(Set(flags).subtracting("u").sorted())
            // The empty text is a part of every text, but no valid expression.
            self.text = known.isEmpty ? (text.isEmpty ? "(?:)" : text) : "(?\(known))\(text)"
            do {
                try TextPattern.check(self.text)
            } catch {
                throw operation.refused("isn't a regular expression: check its brackets and backslashes")
            }
            let isStart = text.hasPrefix("^")
            let quoted = isStart ? text.dropFirst() : text[...]
            if known.isEmpty, quoted.hasPrefix("\\Q"), quoted.hasSuffix("\\E"), quoted.utf8.count >= 4,
                case let inner = quoted.dropFirst(2).dropLast(2), !inner.contains("\\E")
            {
                (search, part) = (isStart ? .beginsWith : .contains, String(inner))
            } else {
                (search, part) = (.search, self.text)
            }
        }

        func condition(on source: Source) -> ExpressionNode {
            source.text.map { .text(search, $0, .value(.text(part)), []) } ?? ConditionReader.nothing
        }
    }
}

extension Source {
    /// The text to search; `nil` for a value that isn't a text.
    fileprivate var text: ExpressionNode? {
        switch self {
        case .missing: nil
        case .column(let node, let type, _): type == .text ? node : nil
        case .object(let node, let parseClass, let isPointer):
            !isPointer && parseClass.objectID.isText ? node : nil
        case .json(let place): place.read(.text)
        }
    }
}
