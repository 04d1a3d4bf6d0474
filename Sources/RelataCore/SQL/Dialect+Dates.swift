/// Dates. Different encodings are compared as instants: microseconds since 1970 on SQLite, `timestamptz` on PostgreSQL.
extension Dialect {
    /// The instant of a date column in any encoding.
    func instant(_ column: String, _ encoding: DateEncoding) -> String {
        switch (self, encoding) {
        case (_, .microseconds): column
        case (.sqlite, .seconds): "CAST(round(\(column) * 1000000.0) AS INTEGER)"
        case (.sqlite, .iso8601):
            "(strftime('%s', substr(\(column), 1, 19)) * 1000000"
                + " + CAST(round(('0.' || substr(\(column), 21)) * 1000000) AS INTEGER))"
        case (.postgres, .seconds), (.postgres, .iso8601): "relata.instant(\(column))"
        }
    }

    /// An instant as seconds since 1970, with a fraction.
    func seconds(ofInstant instant: String) -> String {
        self == .sqlite ? "(\(instant) / 1000000.0)" : "CAST(extract(epoch FROM \(instant)) AS double precision)"
    }

    /// The seconds from one instant to another, with a fraction.
    func seconds(from earlier: String, to later: String) -> String {
        self == .sqlite
            ? "((\(later) - \(earlier)) / 1000000.0)"
            : "CAST(extract(epoch FROM \(later)) - extract(epoch FROM \(earlier)) AS double precision)"
    }

    /// An instant moved by a number of calendar months.
    func adding(months: String, to instant: String) -> String { "\(function("add_months"))(\(instant), \(months))" }

    /// An instant moved by a number of microseconds.
    func adding(microseconds: String, to instant: String) -> String {
        self == .sqlite ? "(\(instant) + \(microseconds))" : "relata.add_microseconds(\(instant), \(microseconds))"
    }

    /// A part of a date column in UTC, as an integer.
    func part(_ part: DatePart, of column: String, _ encoding: DateEncoding) -> String {
        if self == .postgres {
            let instant = "\(instant(column, encoding)) AT TIME ZONE 'UTC'"
            // Seconds have a fraction.
            return "CAST(floor(extract(\(part.field) FROM \(instant))) AS bigint)"
        }
        // Whole seconds, rounded down: a date function given a fraction would round to the nearest millisecond, and
        // integer division rounds towards 1970.
        let date =
            switch encoding {
            case .microseconds: "\(column) / 1000000 - (\(column) % 1000000 < 0), 'unixepoch'"
            case .seconds: "CAST(\(column) AS INTEGER) - (\(column) < CAST(\(column) AS INTEGER)), 'unixepoch'"
            case .iso8601: "substr(\(column), 1, 19)"
            }
        return "CAST(strftime('\(part.format)', \(date)) AS INTEGER)"
    }
}

extension DatePart {
    /// SQLite's letter.
    fileprivate var format: String {
        switch self {
        case .year: "%Y"
        case .month: "%m"
        case .day: "%d"
        case .hour: "%H"
        case .minute: "%M"
        case .second: "%S"
        case .weekday: "%w"
        }
    }

    /// PostgreSQL's word.
    fileprivate var field: String { self == .weekday ? "dow" : rawValue }
}
