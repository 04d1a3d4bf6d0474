/// The keys of many objects of one entity: a collection of ``KeyValue`` that stores all their values in one array.
///
/// Deletion reports hold every key, which may be hundreds of thousands; an array of keys would allocate each of them.
public struct KeyList: Hashable, Sendable {
    /// The values of all keys, one key after the other.
    public private(set) var values: [Value]
    /// The number of values in a key.
    public let width: Int

    /// An empty list of keys with the given number of columns.
    package init(width: Int = 1) {
        self.width = Swift.max(1, width)
        values = []
    }

    /// A list of keys by their values, one key after the other.
    package init(values: [Value], width: Int) {
        self.init(width: width)
        self.values = values
    }

    /// A list of keys with a number of columns, by default the number of columns in the first key.
    package init(_ keys: some Collection<KeyValue>, width: Int? = nil) {
        self.init(width: width ?? keys.first?.values.count ?? 1)
        values.reserveCapacity(keys.count * self.width)
        for key in keys { append(key) }
    }

    /// Adds a key at the end. A value that is missing is `NULL`, one too many is left out.
    package mutating func append(_ key: KeyValue) {
        for column in 0..<width { values.append(column < key.values.count ? key.values[column] : .null) }
    }

    /// Adds the next value; ``width`` of them make a key.
    package mutating func append(value: Value) { values.append(value) }

    /// A copy in ascending order: by number, text by its bytes, the first column first.
    public func sorted() -> KeyList {
        var list = KeyList(width: width)
        if width == 1 {
            list.values = values.sorted { $0.precedes($1) }
        } else {
            list.values = sorted { $0.precedes($1) }.flatMap(\.values)
        }
        return list
    }

    /// The keys as one bound parameter.
    package var parameter: Parameter { width == 1 ? .list(values) : .keys(Array(self)) }
}

extension KeyList: RandomAccessCollection {
    /// Zero.
    public var startIndex: Int { 0 }
    /// The number of keys.
    public var endIndex: Int { values.count / width }

    /// The key at a position.
    public subscript(position: Int) -> KeyValue {
        width == 1
            ? KeyValue(values[position]) : KeyValue(Array(values[position * width..<(position + 1) * width]))
    }
}

extension KeyList: ExpressibleByArrayLiteral, CustomStringConvertible {
    /// The keys, all with as many columns as the first one.
    public init(arrayLiteral keys: KeyValue...) { self.init(keys) }

    /// The keys as a person reads them, separated by commas.
    public var description: String { map(\.description).joined(separator: ", ") }
}

extension KeyValue {
    /// Whether the key precedes when keys are sorted.
    func precedes(_ other: KeyValue) -> Bool {
        for (left, right) in zip(values, other.values) where left != right { return left.precedes(right) }
        return values.count < other.values.count
    }
}

extension Value {
    /// Whether the value precedes in ascending order: nothing, numbers, text, bytes.
    func precedes(_ other: Value) -> Bool {
        switch (self, other) {
        case (.integer(let left), .integer(let right)): left < right
        case (.integer(let left), .real(let right)): Double(left) < right
        case (.real(let left), .integer(let right)): left < Double(right)
        case (.real(let left), .real(let right)): left < right
        case (.text(let left), .text(let right)): left.utf8.lexicographicallyPrecedes(right.utf8)
        case (.blob(let left), .blob(let right)): left.lexicographicallyPrecedes(right)
        case (.uuid(let left), .uuid(let right)):
            withUnsafeBytes(of: left.uuid) { left in
                withUnsafeBytes(of: right.uuid) { left.lexicographicallyPrecedes($0) }
            }
        default: rank < other.rank
        }
    }

    private var rank: Int {
        switch self {
        case .null: 0
        case .integer, .real: 1
        case .text: 2
        case .blob: 3
        case .uuid: 4
        }
    }
}
