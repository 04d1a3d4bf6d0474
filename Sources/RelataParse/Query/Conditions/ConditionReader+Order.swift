import RelataCore

/// The order of a query.
extension ConditionReader {
    /// The order by names: `-price`, `genre.name`. Unknown names are ignored.
    ///
    /// - Parameter score: The value of `$score`, the best first with or without a sign.
    /// - Throws: ``ParseError`` 105 for invalid names of fields, 102 for fields whose values have no order.
    mutating func order(
        _ names: [String], of parseClass: ParseClass, score: ExpressionNode? = nil
    ) throws(ParseError) -> [SortTerm] {
        var order: [SortTerm] = []
        let subject = Subject(parseClass: parseClass, scope: 0, path: [])
        for name in names {
            let isDescending = name.hasPrefix("-")
            let given = isDescending ? String(name.dropFirst()) : name
            let key = ParseNames.storedStamps[given] ?? given
            try countOperator()
            if key == "$score" {
                guard let score else { throw ParseError(.invalidQuery, "order: $score needs a $text in the query") }
                order.append(SortTerm(score, isAscending: false))
                continue
            }
            let target: Target
            do throws(ParseError) {
                target = try self.target(key, of: subject)
            } catch  where error.code == .invalidKeyName {
                throw ParseError(.invalidKeyName, "Invalid field name: \(key.prefix(64)).")
            }
            guard target.ways.isEmpty, !target.isArray else {
                throw ParseError(.invalidQuery, "order: \(target.name) holds several values, which have no order")
            }
            let node: ExpressionNode
            switch target.source {
            case .missing: continue
            case .object(let value, _, _), .column(let value, _, _): node = value
            case .json(let place):
                guard !place.path.isEmpty else {
                    throw ParseError(.invalidQuery, "order: \(target.name) holds JSON, which has no order")
                }
                // A number may name a member or an element; only one of them can exist.
                let others = target.others.filter(\.ways.isEmpty).compactMap(\.source.place)
                let places = ([place] + others).map { $0.read(.any) }
                node = places.count == 1 ? places[0] : .function(.coalesce, places)
            }
            if !order.contains(where: { $0.node == node }) { order.append(SortTerm(node, isAscending: !isDescending)) }
        }
        return order
    }
}
