import RelataCore
import RelataEngine

/// Objects as JSON, separated by commas.
struct EncodedObjects {
    var bytes: [UInt8] = []
    /// The range of each object's bytes.
    var ranges: [Range<Int>] = []
    /// Their ids, if the request asks for objects by ids.
    var ids: [String] = []
}

/// Fetches objects as JSON: one statement for a query and the objects of its pointers, and one for each class of
/// objects that pointers in arrays lead to, level by level.
struct ObjectFetcher {
    private let transaction: ParseTransaction
    /// The number of bytes the objects may have.
    private let limit: Int

    init(_ transaction: ParseTransaction, limit: Int) {
        self.transaction = transaction
        self.limit = limit
    }

    /// The objects of a query, in order.
    ///
    /// - Parameter score: A number that is shown besides their fields, as `score`.
    /// - Throws: ``ParseError`` 116 if the reply would be too large.
    func fetch(
        _ plan: QueryPlan, _ selection: Selection, of parseClass: ParseClass, naming: ObjectShape.Naming = .nothing,
        score: ExpressionNode? = nil
    ) throws -> EncodedObjects {
        let prepared = prepared(selection, of: parseClass, naming, score)
        let shape = prepared.shape
        var encoder = ObjectEncoder(limit: limit)
        var objects = EncodedObjects()
        let statement = try prepared.statement(plan, under: transaction.access)
        do {
            try transaction.connection.rows(statement) { row throws(RelataError) in
                objects.ranges.append(encoder.write(shape, row))
                if naming != .nothing { objects.ids.append(ObjectEncoder.id(shape.id, row)) }
                // The rest needn't be read.
                if encoder.isFull { throw .invalidUse("the reply is too large") }
            }
        } catch {
            throw encoder.isFull ? ParseError.replyTooLarge(limit) : error
        }
        objects.bytes = encoder.writer.bytes
        return encoder.gaps.isEmpty ? objects : try filled(objects, encoder.gaps)
    }

    /// The statement that fetches the objects of a query.
    func statement(
        _ plan: QueryPlan, _ selection: Selection, of parseClass: ParseClass, score: ExpressionNode? = nil
    ) throws(RelataError) -> SQLStatement {
        try prepared(selection, of: parseClass, .nothing, score).statement(plan, under: transaction.access)
    }

    private func prepared(
        _ selection: Selection, of parseClass: ParseClass, _ naming: ObjectShape.Naming, _ score: ExpressionNode?
    ) -> PreparedFetch {
        let classes = transaction.classes
        // The searched text is different each time.
        return score.map { PreparedFetch(parseClass, selection, naming: naming, score: $0, in: classes) }
            ?? classes.prepared.fetch(
                of: parseClass, selection, naming: naming, in: classes, under: transaction.access)
    }

    // MARK: Pointers in JSON

    /// The result of one statement.
    private struct Group: Hashable {
        let className: SameBytes
        let selection: ObjectIdentifier

        init(_ gap: ObjectEncoder.Gap) {
            className = SameBytes(gap.pointer.className)
            selection = ObjectIdentifier(gap.selection)
        }
    }

    /// Replaces pointers by their objects. A dangling pointer stays, except in an array: clients expect only objects in
    /// those.
    private func filled(_ objects: EncodedObjects, _ gaps: [ObjectEncoder.Gap]) throws -> EncodedObjects {
        var wanted: [Group: (selection: InnerSelection, ids: Set<SameBytes>)] = [:]
        for gap in gaps {
            if Task.isCancelled { throw CancellationError() }
            wanted[Group(gap), default: (gap.selection, [])].ids.insert(SameBytes(gap.pointer.objectID))
        }
        var found: [Group: [SameBytes: ArraySlice<UInt8>]] = [:]
        for (group, (selection, ids)) in wanted.sorted(by: { $0.key.className.text < $1.key.className.text }) {
            guard let parseClass = transaction.classes[group.className.text] else { continue }
            let keys = ids.flatMap { parseClass.objectID.keys($0.text) }
            let plan = QueryPlan(
                entity: parseClass.name, condition: .keyIn(.property(scope: 0, path: []), keys))
            let fetched = try fetch(plan, selection.selection, of: parseClass, naming: .object)
            found[group] = Dictionary(
                zip(fetched.ids, fetched.ranges).map { (SameBytes($0), fetched.bytes[$1]) },
                uniquingKeysWith: { first, _ in first })
        }
        var result = EncodedObjects(ids: objects.ids)
        var rest = gaps[...]
        for range in objects.ranges {
            if !result.bytes.isEmpty { result.bytes.append(UInt8(ascii: ",")) }
            let start = result.bytes.count
            var place = range.lowerBound
            while let gap = rest.first, gap.range.upperBound <= range.upperBound {
                rest.removeFirst()
                if Task.isCancelled { throw CancellationError() }
                let object = found[Group(gap)]?[SameBytes(gap.pointer.objectID)]
                guard object != nil || gap.isElement else { continue }
                guard result.bytes.count + (object?.count ?? 0) <= limit else { throw ParseError.replyTooLarge(limit) }
                result.bytes += objects.bytes[place..<gap.range.lowerBound]
                place = gap.range.upperBound
                if let object {
                    result.bytes += object
                } else if result.bytes.last == UInt8(ascii: ",") {
                    result.bytes.removeLast()
                } else if objects.bytes[place] == UInt8(ascii: ",") {
                    place += 1
                }
            }
            result.bytes += objects.bytes[place..<range.upperBound]
            result.ranges.append(start..<result.bytes.count)
        }
        return result
    }
}
