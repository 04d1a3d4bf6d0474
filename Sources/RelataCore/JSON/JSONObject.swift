/// The members of a JSON object, in their order.
///
/// The order is preserved, because some requests depend on it, such as the fields of an index. Equality ignores the
/// order of members. Names are compared by their bytes.
///
/// ```swift
/// var book: JSONObject = ["title": "Kindred", "year": 1979]
/// book["year"] = nil
/// ```
public struct JSONObject: Sendable {
    /// A member: its name and value.
    public typealias Element = (key: String, value: JSONValue)

    /// The members in order.
    package private(set) var members: [Element]
    /// The position of each member by its name, if there are too many for a linear search.
    private var places: [SameBytes: Int]?

    private static let manyMembers = 16

    /// No members.
    public init() { members = [] }

    /// Reserves capacity for that many members.
    package mutating func reserveCapacity(_ count: Int) { members.reserveCapacity(count) }

    /// Members in the order of a sequence. For a repeated name, the later value counts.
    public init(_ members: some Sequence<(String, JSONValue)>) {
        self.init()
        for (name, value) in members { self[name] = value }
    }

    /// The names in order.
    public var keys: some RandomAccessCollection<String> { members.lazy.map(\.key) }

    /// The values in order.
    public var values: some RandomAccessCollection<JSONValue> { members.lazy.map(\.value) }

    /// The value of a member; `nil` for a missing one. A new member is appended; setting one to `nil` removes it.
    public subscript(name: String) -> JSONValue? {
        get { place(of: name).map { members[$0].value } }
        set {
            if let place = place(of: name) {
                if let newValue { members[place].value = newValue } else { remove(at: place) }
            } else if let newValue {
                add(name, newValue)
            }
        }
    }

    /// Adds a member, unless one of that name exists.
    ///
    /// - Returns: Whether it was added.
    package mutating func append(_ name: consuming String, _ value: consuming JSONValue) -> Bool {
        guard place(of: name) == nil else { return false }
        add(name, value)
        return true
    }

    /// Takes a member away and returns its value.
    @discardableResult
    public mutating func removeValue(forKey name: String) -> JSONValue? {
        guard let place = place(of: name) else { return nil }
        defer { remove(at: place) }
        return members[place].value
    }

    /// The members that meet a test.
    public func filter(_ isIncluded: (Element) throws -> Bool) rethrows -> JSONObject {
        var result = JSONObject()
        for (name, value) in members where try isIncluded((name, value)) { result.add(name, value) }
        return result
    }

    /// Adds the members of another object, whose values replace existing ones.
    public mutating func merge(_ other: JSONObject) { for (name, value) in other { self[name] = value } }

    /// The members of both; the other's values replace those of this object.
    public func merging(_ other: JSONObject) -> JSONObject {
        var result = self
        result.merge(other)
        return result
    }

    /// The members in the order of their names' bytes.
    package var sorted: [Element] {
        members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    }

    // MARK: Places

    private func place(of name: String) -> Int? {
        if let places { return places[SameBytes(name)] }
        return members.firstIndex { $0.key.hasSameBytes(as: name) }
    }

    private mutating func add(_ name: consuming String, _ value: consuming JSONValue) {
        members.append((name, value))
        if places != nil {
            places?[SameBytes(members[members.count - 1].key)] = members.count - 1
        } else if members.count > Self.manyMembers {
            findPlaces()
        }
    }

    private mutating func remove(at place: Int) {
        let member = members.remove(at: place)
        guard places != nil else { return }
        if members.count <= Self.manyMembers {
            places = nil
        } else {
            // The names after it move up. Rehashing all of them takes many times as long.
            places?[SameBytes(member.key)] = nil
            places = places?.mapValues { $0 > place ? $0 - 1 : $0 }
        }
    }

    private mutating func findPlaces() {
        var places: [SameBytes: Int] = Dictionary(minimumCapacity: members.count * 2)
        for (place, member) in members.enumerated() { places[SameBytes(member.key)] = place }
        self.places = places
    }
}

extension JSONObject: RandomAccessCollection {
    /// The position of the first member.
    public var startIndex: Int { 0 }
    /// The number of members.
    public var endIndex: Int { members.count }
    /// The member at a place.
    public subscript(place: Int) -> Element { members[place] }
}

extension JSONObject: Hashable {
    /// Whether both have the same members, in any order.
    public static func == (left: JSONObject, right: JSONObject) -> Bool {
        guard left.count == right.count else { return false }
        for (place, member) in left.members.enumerated() {
            let other = right.members[place]
            // Most often they are in the same order.
            let value = member.key.hasSameBytes(as: other.key) ? other.value : right[member.key]
            guard member.value == value else { return false }
        }
        return true
    }

    /// Feeds a hasher with the members, regardless of their order.
    public func hash(into hasher: inout Hasher) {
        var sum = 0
        for (name, value) in members {
            var member = hasher
            name.hashBytes(into: &member)
            member.combine(value)
            sum ^= member.finalize()
        }
        hasher.combine(sum)
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// The members of a literal, in its order.
    public init(dictionaryLiteral members: (String, JSONValue)...) { self.init(members) }
}
