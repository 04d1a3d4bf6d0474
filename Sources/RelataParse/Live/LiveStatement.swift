import RelataCore
import Synchronization

/// The statement that tells which of some changed objects meet a group's conditions. Its text is written once, and the
/// keys are bound at each step: a thousand groups would otherwise write a thousand texts for each change.
final class LiveStatement: Sendable {
    /// A statement, and the place of the keys among its parameters.
    private struct Prepared {
        let query: CompiledQuery
        let place: Int
    }

    private struct Known {
        var forOne: Prepared?
        var forSeveral: Prepared?
        /// Whether the place of the keys can't be found.
        var isOpaque = false
    }

    private let known = Mutex(Known())

    /// The keys of no object. Where they stand in a statement, others can be bound.
    private static let marks = [Token.hex(16), Token.hex(16)].map { KeyValue(.text($0)) }

    /// The statement for some keys.
    ///
    /// - Parameter compile: Writes the statement for other keys. Besides the keys, it always writes the same.
    func query(
        among keys: [KeyValue], _ compile: ([KeyValue]) throws -> CompiledQuery
    ) throws -> CompiledQuery {
        guard !keys.isEmpty, keys.allSatisfy(Self.isText), let prepared = prepared(isForOne: keys.count == 1, compile)
        else { return try compile(keys) }
        var query = prepared.query
        query.statement.parameters[prepared.place] = Self.parameter(keys)
        return query
    }

    private func prepared(isForOne: Bool, _ compile: ([KeyValue]) throws -> CompiledQuery) -> Prepared? {
        let (there, isOpaque) = known.withLock { (isForOne ? $0.forOne : $0.forSeveral, $0.isOpaque) }
        if there != nil || isOpaque { return there }
        let marks = Array(Self.marks.prefix(isForOne ? 1 : 2))
        let query = try? compile(marks)
        let places = query?.statement.parameters.indices.filter {
            query?.statement.parameters[$0] == Self.parameter(marks)
        }
        return known.withLock { known in
            guard let query, let places, places.count == 1, query.accessParameters.isEmpty else {
                known.isOpaque = true
                return nil
            }
            let prepared = Prepared(query: query, place: places[0])
            if isForOne { known.forOne = prepared } else { known.forSeveral = prepared }
            return prepared
        }
    }

    private static func isText(_ key: KeyValue) -> Bool {
        guard key.values.count == 1, case .text? = key.values.first else { return false }
        return true
    }

    /// The parameter that the compiler binds for keys of one part.
    private static func parameter(_ keys: [KeyValue]) -> Parameter {
        keys.count == 1 ? .value(keys[0].values[0]) : .list(keys.map { $0.values[0] })
    }
}
