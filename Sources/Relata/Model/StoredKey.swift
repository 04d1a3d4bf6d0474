/// A key as the database takes it: texts are equal where their bytes are, while Swift takes an é and an e with an accent
/// for the same.
@frozen @usableFromInline
struct StoredKey<M: Model>: Hashable {
    @usableFromInline let key: M.Key

    @inlinable
    init(_ key: M.Key) { self.key = key }

    @inlinable
    static func == (left: StoredKey, right: StoredKey) -> Bool {
        guard left.key == right.key else { return false }
        // A plain number or UUID holds no text. In the app's module the compiler knows, and leaves out the rest.
        return _isPOD(M.Key.self) || isStoredAlike(left.key, right.key)
    }

    /// What has the same bytes is equal to Swift too, so that the hashes agree.
    @inlinable
    func hash(into hasher: inout Hasher) { hasher.combine(key) }

    /// A number by itself has a shorter way to its hash than one that is a part of something.
    @inlinable
    func _rawHashValue(seed: Int) -> Int { key._rawHashValue(seed: seed) }

    @inlinable
    static func isStoredAlike(_ left: M.Key, _ right: M.Key) -> Bool {
        if let left = left as? String, let right = right as? String { return Value.text(left) == .text(right) }
        return hasSameValues(left, right)
    }

    /// The same of a key of several parts, or of one that is made of a text.
    @usableFromInline
    static func hasSameValues(_ left: M.Key, _ right: M.Key) -> Bool {
        (try? M.keyValue(left)) == (try? M.keyValue(right))
    }
}

extension Model {
    /// The object's key as the database takes it.
    @inlinable var ownKey: StoredKey<Self>? { primaryKey.map { StoredKey($0) } }
}

extension Dictionary where Value == Int32 {
    /// The number that a key has, or from now on has. The key is looked for once.
    @inlinable
    mutating func number(of key: Key, new: Int32) -> Int32 {
        func take(_ number: inout Int32) -> Int32 {
            if number < 0 { number = new }
            return number
        }
        return take(&self[key, default: -1])
    }
}
