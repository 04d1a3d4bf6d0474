/// Callers in a limited part of the memory. Once it is full, all are forgotten.
struct KeptCallers<Key: Hashable> {
    private var callers: [Key: KnownCaller] = [:]
    private var size = 0
    private var maximumSize: Int { 20_000 }

    /// A caller; `nil` if it isn't kept.
    subscript(key: Key) -> KnownCaller? { callers[key] }

    /// Keeps a caller, unless it takes much of the memory alone.
    mutating func add(_ caller: KnownCaller, for key: Key) {
        guard caller.size <= maximumSize / 4 else { return }
        if size + caller.size > maximumSize { self = KeptCallers() }
        if callers.updateValue(caller, forKey: key) == nil { size += caller.size }
    }
}
