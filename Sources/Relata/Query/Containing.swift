// Swift's spelling of `in`: `["a", "b"].contains($0.title)`, with the same meaning.

extension Sequence {
    /// Whether the value of a query is one of these: `["Emma", "Persuasion"].contains($0.title)`. The same as
    /// `$0.title.in([…])`.
    @_disfavoredOverload
    public func contains<Value: QueryExpression<Element>>(_ value: Value) -> Condition { value.in(self) }

    /// Whether a to-one links to one of these objects: `genres.contains($0.genre)`.
    @_disfavoredOverload
    public func contains(_ link: ToOneField<Element>) -> Condition where Element: Model { link.in(self) }
}

extension ClosedRange {
    /// Whether the value of a query lies in the range: `(1960...1970).contains($0.year)`.
    @_disfavoredOverload
    public func contains<Value: QueryExpression<Bound>>(_ value: Value) -> Condition { value.in(self) }

    /// Whether the value of a query is set and lies in the range: `(1.5...2).contains($0.price)`.
    @_disfavoredOverload
    public func contains<Value: QueryExpression<Bound?>>(_ value: Value) -> Condition { value.in(self) }
}

extension Range {
    /// Whether the value of a query lies in the range: `(1960..<1970).contains($0.year)`.
    @_disfavoredOverload
    public func contains<Value: QueryExpression<Bound>>(_ value: Value) -> Condition { value.in(self) }

    /// Whether the value of a query is set and lies in the range: `(1.5..<2).contains($0.price)`.
    @_disfavoredOverload
    public func contains<Value: QueryExpression<Bound?>>(_ value: Value) -> Condition { value.in(self) }
}

extension PartialRangeFrom {
    /// Whether the value of a query is the range's lower end or more: `(1960...).contains($0.year)`.
    @_disfavoredOverload
    public func contains<Value: QueryExpression<Bound>>(_ value: Value) -> Condition { value.in(self) }
}

extension PartialRangeThrough {
    /// Whether the value of a query is the range's upper end or less: `(...1970).contains($0.year)`.
    @_disfavoredOverload
    public func contains<Value: QueryExpression<Bound>>(_ value: Value) -> Condition { value.in(self) }
}

extension PartialRangeUpTo {
    /// Whether the value of a query is less than the range's upper end: `(..<1970).contains($0.year)`.
    @_disfavoredOverload
    public func contains<Value: QueryExpression<Bound>>(_ value: Value) -> Condition { value.in(self) }
}
