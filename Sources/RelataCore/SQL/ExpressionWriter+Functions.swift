/// Functions of values.
extension ExpressionWriter {
    mutating func call(_ function: Function, _ arguments: [ExpressionNode]) throws(RelataError) -> Term {
        if function == .coalesce { return try coalesce(arguments) }
        let count = function.argumentCount
        guard arguments.count == count else {
            throw .invalidUse(
                "\(function.spelled) takes \(count) argument\(count == 1 ? "" : "s"), not \(arguments.count)")
        }
        var term = try term(arguments[0])
        let source = term.sql
        switch function {
        case .lowercased, .uppercased, .trimmed:
            try require(term.type == .text, term, "\(function.spelled) is for text")
            term.sql = "\(dialect.function(function.spelled))(\(source))"
        case .length:
            try require(term.type == .text || term.type == .data, term, "length is for text and data")
            term.sql =
                term.type == .data ? dialect.byteCount(source) : "\(dialect.function("length"))(\(source))"
            term.type = .integer
        case .absolute:
            try require(term.type?.isNumber == true, term, "absolute is for numbers")
            term.sql = term.type == .decimal ? dialect.absolute(decimal: source) : "abs(\(source))"
        case .real:
            try require(term.type?.isNumber == true, term, "only a number can become a floating-point one")
            if term.type == .real { return term }
            term.sql = dialect.real(converting: source)
            term.type = .real
        case .decimal:
            try require(term.type?.isNumber == true, term, "only a number can become a decimal one")
            if term.type == .decimal { return term }
            term.sql = dialect.decimal(converting: source)
            term.type = .decimal
        case .concatenate:
            return try joined(term, try self.term(arguments[1]))
        case .wordCount(let options):
            let words = try self.term(arguments[1])
            for text in [term, words] { try require(text.type == .text, text, "words can be counted only in text") }
            term.sql = "\(dialect.function("word_count"))(\(source), \(words.sql), \(options.rawValue))"
            (term.type, term.isNullable) = (.integer, term.isNullable || words.isNullable)
        case .datePart(let part):
            term.sql = dialect.part(part, of: source, try dateEncoding(term))
            term.type = .integer
        case .json(let kind, let path): return try json(term, kind, path)
        case .isEmptyJSON, .elementCount:
            try require(term.type == .json || term.type == .text, term, "only JSON has elements")
            let isCount = function == .elementCount
            let json = dialect.jsonSource(source, of: term.type)
            term.sql = isCount ? dialect.jsonElementCount(json) : dialect.jsonIsEmpty(json)
            (term.type, term.isNullable) = (isCount ? .integer : .boolean, true)
        case .addingTime(let offset): term = try adding(offset, to: term)
        case .secondsBetween:
            let earlier = try self.term(arguments[1], like: term)
            term.sql = dialect.seconds(from: try instant(earlier), to: try instant(term))
            (term.type, term.isNullable) = (.real, term.isNullable || earlier.isNullable)
        case .distance:
            let numbers = try [term] + arguments.dropFirst().map { (node) throws(RelataError) in try self.term(node) }
            for number in numbers { try require(number.type?.isNumber == true, number, "a distance needs numbers") }
            term.sql = "\(dialect.function("distance"))(\(numbers.map(\.sql).joined(separator: ", ")))"
            (term.type, term.isNullable) = (.real, true)
        case .isInPolygon:
            let (longitude, corners) = (try self.term(arguments[1]), try self.term(arguments[2]))
            try require(corners.type == .text || corners.type == .json, corners, "corners must be JSON text")
            term.sql = "\(dialect.function("in_polygon"))(\(source), \(longitude.sql), \(corners.sql))"
            (term.type, term.isNullable) = (.boolean, true)
        case .coalesce: break
        }
        term.column = nil
        term.name = function.spelled
        return term
    }

    private func dateEncoding(_ term: Term) throws(RelataError) -> DateEncoding {
        guard case .date(let encoding)? = term.type else {
            throw .invalidUse("\(describe(term)) is \(term.type?.spelled ?? "a value"), not a date")
        }
        return encoding
    }

    private func instant(_ term: Term) throws(RelataError) -> String {
        dialect.instant(term.sql, try dateEncoding(term))
    }

    private mutating func adding(_ offset: DateOffset, to date: Term) throws(RelataError) -> Term {
        guard offset.isWithinReach else {
            throw .invalidUse("a duration of more than 20,000 years can't be added to \(describe(date))")
        }
        var term = date
        term.sql = try instant(date)
        if offset.months != 0 {
            term.sql = dialect.adding(
                months: bind(.integer(Int64(offset.months)), as: .integer), to: term.sql)
            term.isNullable = true
        }
        if offset.microseconds != 0 {
            term.sql = dialect.adding(
                microseconds: bind(.integer(offset.microseconds), as: .integer), to: term.sql)
        }
        term.type = .date(.microseconds)
        return term
    }

    private mutating func coalesce(_ arguments: [ExpressionNode]) throws(RelataError) -> Term {
        guard let model = arguments.first(where: { !$0.isConstant }) ?? arguments.first else {
            throw .invalidUse("coalesce needs an argument")
        }
        var known = try term(model)
        var terms: [Term] = []
        for argument in arguments { terms.append(argument == model ? known : try term(argument, like: known)) }
        if terms.contains(where: { $0.type != known.type }), terms.allSatisfy({ $0.type?.isDate ?? false }) {
            // Dates of several encodings take one.
            for index in terms.indices {
                terms[index].sql = try instant(terms[index])
                terms[index].type = .date(.microseconds)
            }
            known.type = .date(.microseconds)
        }
        var texts: [String] = []
        var isNullable = true
        for term in terms {
            if let type = term.type, let other = known.type, type != other, !(type.isNumber && other.isNumber) {
                throw .invalidUse(
                    "\(describe(known)) is \(other.spelled) and \(describe(term)) is \(type.spelled): "
                        + "coalesce takes values of one type")
            }
            texts.append(term.sql)
            isNullable = isNullable && term.isNullable
        }
        let sql = texts.count == 1 ? texts[0] : "COALESCE(\(texts.joined(separator: ", ")))"
        return Term(
            sql: sql, type: known.type, isNullable: isNullable, name: "coalesce",
            isSinglePrecision: known.isSinglePrecision)
    }
}

extension Function {
    /// The function's name in messages, and after `relata_` in SQL.
    fileprivate var spelled: String {
        switch self {
        case .lowercased: "lowercased"
        case .uppercased: "uppercased"
        case .length: "length"
        case .absolute: "absolute"
        case .real: "real"
        case .decimal: "decimal"
        case .coalesce: "coalesce"
        case .datePart(let part): part.rawValue
        case .concatenate: "concatenate"
        case .addingTime: "adding a duration"
        case .secondsBetween: "secondsBetween"
        case .trimmed: "trimmed"
        case .wordCount: "wordCount"
        case .json: "json"
        case .isEmptyJSON: "isEmpty"
        case .elementCount: "count"
        case .distance: "distance"
        case .isInPolygon: "isInPolygon"
        }
    }

    fileprivate var argumentCount: Int {
        switch self {
        case .concatenate, .wordCount, .secondsBetween: 2
        case .isInPolygon: 3
        case .distance: 4
        default: 1
        }
    }
}
