/// A key in its stored form: texts with equal bytes are equal, whereas Swift treats different Unicode compositions as
/// equal.
@frozen @usableFromInline
struct StoredKey<M: Model>: Hashable {
    @usableFromInline let key: M.Key

    @inlinable
    init(_ key: M.Key) { self.key = key }

    @inlinable
    static func == (left: StoredKey, right: StoredKey) -> Bool {
        guard left.key == right.key else { return false }
        // A plain number or UUID contains no text. In the app's module the compiler knows that, and removes the rest.
        return _isPOD(M.Key.self) || isStoredAlike(left.key, right.key)
    }

    /// Values with equal bytes are equal to Swift too, so the hashes agree.
    @inlinable
    func hash(into hasher: inout Hasher) { hasher.combine(key) }

    /// A number alone is hashed faster than one that is a part of something.
    @inlinable
    func _rawHashValue(seed: Int) -> Int { key._rawHashValue(seed: seed) }

    @inlinable
    static func isStoredAlike(_ left: M.Key, _ right: M.Key) -> Bool {
        if let left = left as? String, let right = right as? String { return Value.text(left) == .text(right) }
        return hasSameValues(left, right)
    }

    /// The comparison for a compound key, or one that contains a text.
    @usableFromInline
    static func hasSameValues(_ left: M.Key, _ right: M.Key) -> Bool {
        (try? M.keyValue(left)) == (try? M.keyValue(right))
    }
}

extension Model {
    /// The object's key in its stored form.
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
