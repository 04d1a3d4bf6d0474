/// Searching text.
extension ExpressionWriter {
    mutating func find(
        _ search: TextOperator, _ text: ExpressionNode, _ pattern: ExpressionNode, _ options: TextOptions
    ) throws(RelataError) {
        let text = try self.text(text, for: search)
        guard case .value(let value) = pattern else {
            let pattern = try self.text(pattern, for: search)
            return write(search, text.sql, pattern.sql, options)
        }
        guard !value.isNull else { return sql.append(dialect.never) }
        guard case .text(let constant) = value else {
            throw .invalidUse("\(describe(text)) can't be searched for \(value), which isn't text")
        }
        if search == .matches || search == .search { try TextPattern.check(constant) }
        // Every text contains the empty one; an unset value isn't text.
        if constant.isEmpty, search == .contains || search == .beginsWith || search == .endsWith {
            return sql.append(text.sql + " IS NOT NULL")
        }
        if options.isEmpty, search == .beginsWith { return range(text.sql, prefix: constant) }
        if options.isEmpty, search == .like {
            let prefix = TextPattern.literalPrefix(constant)
            sql.append("(")
            if !prefix.isEmpty {
                range(text.sql, prefix: prefix)
                sql.append(" AND ")
            }
            write(.like, text.sql, bind(.text(constant), as: .text), options)
            sql.append(")")
            return
        }
        write(search, text.sql, bind(.text(constant), as: .text), options)
    }

    /// A text, which may be a constant.
    private mutating func text(_ node: ExpressionNode, for search: TextOperator) throws(RelataError) -> Term {
        let term = try term(node)
        try require(term.type == .text || node.isConstant, term, "\(search.rawValue) searches text only")
        return term
    }

    /// All texts with that prefix, as a range of bytes, which an index serves.
    private mutating func range(_ text: String, prefix: String) {
        sql.append("(\(text) >= \(bind(.text(prefix), as: .text))")
        if let end = prefix.endOfPrefix { sql.append(" AND \(text) < \(bind(.text(end), as: .text))") }
        sql.append(")")
    }

    private mutating func write(_ search: TextOperator, _ text: String, _ part: String, _ options: TextOptions) {
        switch search {
        case .like: sql.append("\(dialect.function("like"))(\(text), \(part), \(options.rawValue))")
        case .matches, .search, .words:
            sql.append("\(dialect.function(search.rawValue))(\(text), \(part), \(options.rawValue))")
        case .contains, .beginsWith, .endsWith:
            let (text, part) = (folded(text, options), folded(part, options))
            switch search {
            case .endsWith: sql.append("\(dialect.function("ends"))(\(text), \(part))")
            case .beginsWith: sql.append(dialect.position(of: part, in: text) + " = 1")
            default: sql.append(dialect.position(of: part, in: text) + " > 0")
            }
        }
    }

    private func folded(_ text: String, _ options: TextOptions) -> String {
        options.isEmpty ? text : "\(dialect.function("fold"))(\(text), \(options.rawValue))"
    }
}

extension String {
    /// The first text, in the order of bytes, after all that begin with this one; `nil` if there is none.
    var endOfPrefix: String? {
        var scalars = Array(unicodeScalars)
        while let last = scalars.popLast() {
            // U+D800 … U+DFFF aren't characters.
            let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
            guard let successor = Unicode.Scalar(next) else { continue }
            var text = String.UnicodeScalarView(scalars)
            text.append(successor)
            return String(text)
        }
        return nil
    }
}
