extension Dialect {
    /// The reason why the database can't store a value that a model allows; `nil` if it can.
    package func refusal(of value: Value, as type: AttributeType) -> String? {
        guard self == .postgres else { return nil }
        switch (value, type) {
        case (.text(let text), _) where text.utf8.contains(0):
            return "contains U+0000, which PostgreSQL can't store in text: remove it, or store the text as data"
        case (.integer(let microseconds), .date(.microseconds)) where microseconds < Self.earliestMoment:
            return "is before 4714 BC, PostgreSQL's earliest date: choose a later one"
        default: return nil
        }
    }

    /// The start of 4714 BC, 24 November, in microseconds since 1970.
    private static let earliestMoment: Int64 = -210_866_803_200_000_000
}
