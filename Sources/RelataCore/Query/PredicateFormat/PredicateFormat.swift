/// Conditions as text: `genre.name == %@ AND ANY authors.name BEGINSWITH[c] 'ur'`.
///
/// The useful subset of NSPredicate's format, checked against the schema and compiled by the same path as typed
/// conditions:
///
/// - comparisons `= == != <> < <= =< > >= =>`, `IN`, `BETWEEN`, and for text `CONTAINS`, `BEGINSWITH`, `ENDSWITH`,
///   `LIKE` (`*` and `?`) and `MATCHES` (a regular expression, as a whole); `[c]` and `[d]` after an operator ignore
///   case and diacritics;
/// - `AND`, `OR`, `NOT` (or `&& || !`), parentheses, `TRUEPREDICATE`, `FALSEPREDICATE`;
/// - `ANY` (or `SOME`), `ALL` and `NONE` of a to-many. In parentheses, several comparisons apply to the same related
///   object: `ANY (reviews.stars > 3 AND reviews.text != nil)`;
/// - aggregates of a to-many: `reviews.@count > 5`, `reviews.@avg.stars`, `reviews.stars.@max`. Each path counts; with
///   `@distinctUnionOfObjects` in it, as in `slots.@distinctUnionOfObjects.song.@count`, each object counts once;
/// - aggregates of the related objects that meet a condition: `SUBQUERY(reviews, $r, $r.stars > 3).@count > 1`. A name
///   without a variable is one of the object outside;
/// - membership: `%@ IN authors`, `authors CONTAINS %@`; of an array that an attribute holds: `tags CONTAINS 'new'`;
/// - members of a `Codable` value that an attribute holds: `address.city == 'Oslo'`;
/// - `a ?? b`: the first set value;
/// - dates: `due + days(3)`, `due - months(1)`, with `seconds minutes hours days weeks months years`; `now()`; two
///   dates' difference in seconds: `end - start`;
/// - arithmetic `+ - * /`, where `+` also joins texts; functions `lowercase uppercase trim length abs year month day
///   hour minute second weekday`;
/// - literals `'text'`, `"text"`, `12.5`, `TRUE`, `YES`, `nil`, `{1, 2, 3}`; a date or a UUID is written as text;
/// - `SELF` for the object, `#name` for a name that is a keyword, `` `a name` `` for one with other characters.
///
/// Pass external values as arguments, never in the text: `%@` stands for the next one (a value, a list, a key or keys),
/// `%d %i %ld %f` for a number, `%K` for the name of a property.
package enum PredicateFormat {
    /// Finds the property of an entity by a name in the text; `nil` for an unknown one.
    package typealias NameResolver = (_ name: String, _ table: Table) -> String?

    /// Reads a condition on the objects of an entity.
    ///
    /// - Throws: ``RelataError/predicateFormat(text:column:_:)`` with the column, counted from 1, and what was
    ///   expected.
    package static func parse(
        _ text: String, arguments: [PredicateArgument] = [], entity: String, schema: Schema,
        resolveName: NameResolver = PredicateFormat.property
    ) throws(RelataError) -> ExpressionNode {
        guard let table = schema[entity] else {
            throw .invalidUse(
                "there is no entity \(entity)" + NameSuggestion.hint(for: entity, among: schema.tables.map(\.name)))
        }
        return try withoutActuallyEscaping(resolveName) { (resolveName) throws(RelataError) in
            var lexer = PredicateLexer(text)
            var parser = PredicateParser(
                text: text, tokens: try lexer.tokens(), arguments: arguments, schema: schema, table: table,
                resolveName: resolveName)
            return try parser.predicate()
        }
    }

    /// Reads a value of the objects of an entity, such as an aggregate to sort by: `reviews.@avg.stars`. A path to an
    /// object is its key.
    ///
    /// - Throws: ``RelataError/predicateFormat(text:column:_:)`` with the column, counted from 1, and what was
    ///   expected.
    package static func value(
        _ text: String, entity: Table, schema: Schema, resolveName: NameResolver = PredicateFormat.property
    ) throws(RelataError) -> ExpressionNode {
        try withoutActuallyEscaping(resolveName) { (resolveName) throws(RelataError) in
            var lexer = PredicateLexer(text)
            var parser = PredicateParser(
                text: text, tokens: try lexer.tokens(), arguments: [], schema: schema, table: entity,
                resolveName: resolveName)
            return try parser.wholeValue()
        }
    }

    /// The property of that name, or the only one that has it as its name or its column's when case doesn't count.
    package static func property(_ name: String, of table: Table) -> String? {
        if table.entity.property(name) != nil { return name }
        let wanted = name.lowercased()
        var found: [String] = table.entity.properties.map(\.name).filter { $0.lowercased() == wanted }
        if found.isEmpty {
            found = table.columns.filter { $0.name.lowercased() == wanted }.map(\.property)
        }
        return found.count == 1 ? found[0] : nil
    }
}

/// The argument for a placeholder in the text of a predicate.
public enum PredicateArgument: Hashable, Sendable {
    /// One value: a date in microseconds since 1970, `.null` for nil. For `%K`, the name of a property as text.
    case value(Value)
    /// Several values.
    case values([Value])
    /// An object, by its key.
    case key(KeyValue)
    /// Several objects, by their keys.
    case keys([KeyValue])
    /// An argument for objects of an entity, by its name: a comparison with another entity's is refused.
    indirect case ofEntity(String, PredicateArgument)
}

extension PredicateArgument {
    /// The entity of its objects, if it is known.
    package var entity: String? { if case .ofEntity(let entity, _) = self { entity } else { nil } }

    /// The argument without the entity.
    package var bare: PredicateArgument { if case .ofEntity(_, let argument) = self { argument.bare } else { self } }
}

/// A type whose values are keys of one entity.
package protocol EntityKey {
    /// The entity's name, if it is one.
    static var keyedEntity: String? { get }
}
