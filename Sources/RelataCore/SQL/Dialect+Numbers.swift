/// Numbers: arithmetic, conversions and aggregates. On SQLite decimals are text that Relata's functions read.
extension Dialect {
    /// A decimal number, in a form that compares by number.
    func decimal(_ number: String) -> String { self == .sqlite ? "\(number) COLLATE relata_decimal" : number }

    /// A decimal number from one of another kind.
    func decimal(converting number: String) -> String {
        self == .sqlite ? "CAST(\(number) AS TEXT)" : "CAST(\(number) AS numeric)"
    }

    /// A floating-point number from a decimal one.
    func real(converting number: String) -> String {
        self == .sqlite ? "CAST(\(number) AS REAL)" : "CAST(\(number) AS double precision)"
    }

    /// A condition as the integer 1 or 0.
    func integer(converting condition: String) -> String {
        hasBooleans ? "CAST(CAST(\(condition) AS integer) AS bigint)" : condition
    }

    /// A calculation with decimal numbers. A division by zero is unset.
    func calculation(
        _ left: String, _ operation: ArithmeticOperator, _ right: String, isDecimal: Bool
    ) -> String {
        let divides = operation == .divide || operation == .remainder
        switch self {
        case .sqlite where isDecimal: return "relata_decimal('\(operation.rawValue)', \(left), \(right))"
        case .sqlite: return "(\(left) \(operation.rawValue) \(right))"
        case .postgres:
            let result = "(\(left) \(operation.rawValue) \(divides ? "NULLIF(\(right), 0)" : right))"
            // Trailing zeros have no meaning, as on SQLite.
            return isDecimal ? "trim_scale\(result)" : result
        }
    }

    /// A number with its sign turned.
    func negated(_ number: String, isDecimal: Bool) -> String {
        self == .sqlite && isDecimal ? "relata_decimal('-', '0', \(number))" : "(-\(number))"
    }

    /// A decimal number without its sign.
    func absolute(decimal number: String) -> String {
        self == .sqlite ? "ltrim(\(number), '-')" : "abs(\(number))"
    }

    /// The number of bytes of data.
    func byteCount(_ data: String) -> String {
        self == .sqlite ? "length(\(data))" : "CAST(octet_length(\(data)) AS bigint)"
    }

    // MARK: Figures

    /// The sum of numbers, 0 of none.
    ///
    /// - Parameter argument: The numbers, with `DISTINCT` before them to count equal ones once.
    func sum(_ argument: String, of type: AttributeType?, keepsIntegers: Bool) -> String {
        let isDecimal = type == .decimal
        switch self {
        case .sqlite:
            // SQLite's own sum of integers fails on an overflow.
            let function = isDecimal ? "relata_decimal_sum" : keepsIntegers ? "relata_sum" : "SUM"
            return "COALESCE(\(function)(\(argument)), \(isDecimal ? "'0'" : "0"))"
        case .postgres:
            let sum = isDecimal ? "trim_scale(SUM(\(argument)))" : "SUM(\(argument))"
            return "COALESCE(\(type == .integer ? "CAST(\(sum) AS bigint)" : sum), 0)"
        }
    }

    /// The average of numbers, unset of none.
    func average(_ argument: String, isDecimal: Bool) -> String {
        switch self {
        case .sqlite: "\(isDecimal ? "relata_decimal_avg" : "AVG")(\(argument))"
        case .postgres: isDecimal ? "trim_scale(AVG(\(argument)))" : "CAST(AVG(\(argument)) AS double precision)"
        }
    }

    /// The smallest or the largest value, unset of none.
    func extreme(_ function: AggregateFunction, _ value: String, of type: AttributeType?) -> String {
        let isMinimum = function == .minimum
        switch (self, type) {
        case (.postgres, .data), (.postgres, .uuid(.blob)), (.postgres, .json):
            // PostgreSQL orders these values, but takes no extremes of them.
            return "(array_agg(\(value) ORDER BY \(value)\(isMinimum ? "" : " DESC") NULLS LAST))[1]"
        default:
            return "\(isMinimum ? "MIN" : "MAX")(\(type == .decimal ? decimal(value) : value))"
        }
    }

    /// The value that all rows of a group have in common.
    func common(_ value: String) -> String { isStrict ? "(array_agg(\(value)))[1]" : value }
}
