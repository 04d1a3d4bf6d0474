extension Connection {
    /// A value that is kept until any process commits a change; `nil` if there is none.
    ///
    /// The open transaction must have read something already, and must not write. A connection keeps one value. While
    /// reads are recorded, it gives none: the reads of a kept value would be missing.
    ///
    /// - Parameter make: Makes the value for another state of the database.
    package func keptForState<Kept: AnyObject>(_ make: () -> Kept) -> Kept? {
        guard accesses == nil, let state = driver.stateNumber else { return nil }
        if let kept, kept.state == state, let value = kept.value as? Kept { return value }
        let value = make()
        kept = (state, value)
        return value
    }
}
