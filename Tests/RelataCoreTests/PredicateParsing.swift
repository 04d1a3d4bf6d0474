import RelataCore

/// Parses conditions in text, and writes the expressions that they should become.
protocol PredicateParsing {
    var schema: Schema { get }
}

extension PredicateParsing {
    func parse(
        _ text: String, _ arguments: PredicateArgument..., entity: String = "Album"
    ) throws(RelataError) -> ExpressionNode {
        try PredicateFormat.parse(text, arguments: arguments, entity: entity, schema: schema)
    }

    func path(_ path: String, _ scope: Int = 0) -> ExpressionNode {
        .property(scope: scope, path: path.split(separator: ".").map(String.init))
    }

    func compare(
        _ comparison: ComparisonOperator, _ name: String, _ value: Value, _ scope: Int = 0, _ options: TextOptions = []
    ) -> ExpressionNode {
        .comparison(comparison, path(name, scope), .value(value), options)
    }
}
