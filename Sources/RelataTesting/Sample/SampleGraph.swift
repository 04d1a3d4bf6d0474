import Relata
import RelataCore
import RelataEngine

/// Creates the objects of a sample in memory, and then writes them together.
///
/// A model's objects are created after the objects that they link to. Links in a cycle are set after all objects exist.
///
/// Packages that make random values, such as Fakery and swift-gen, make those of single properties. They don't know a
/// schema: how many targets required links need, that a one-to-one has one, which sets are unique, how many members a
/// list has, and what models of a cycle wait for. That is most of this folder's code. It makes 24,000 to 33,000 objects
/// a second of a model with a to-one, a list and limits, and writes them; saving objects made by hand comes to 75,000.
final class SampleGraph<Root: Model> {
    private let transaction: WriteTransaction
    private let schema: Schema
    private let adjust: ((inout Root, inout SampleRandom) throws -> Void)?
    private var random: SampleRandom
    private let root: Int
    /// The models by the numbers of their tables, and the order in which their objects are created.
    private var entities: [Int: SampleEntity] = [:]
    private var order: [Int] = []
    /// To-ones to models whose objects are created later.
    private var deferred: Set<Int> = []
    /// The root's objects, as they were adjusted.
    private var objects: [Root] = []

    init(
        count: Int, related: Int, seed: UInt64, adjust: ((inout Root, inout SampleRandom) throws -> Void)?,
        in transaction: WriteTransaction
    ) throws {
        self.transaction = transaction
        self.adjust = adjust
        schema = transaction.schema
        random = SampleRandom(seed: seed)
        guard let root = schema.index(of: Root.entityName) else {
            throw RelataError.invalidUse("the store wasn't opened for \(Root.entityName): give it to Store.open(for:)")
        }
        self.root = root
        var open: [any Model.Type] = [Root.self]
        while let model = open.popLast() {
            guard let table = schema[model.entityName], entities[table.index] == nil else { continue }
            entities[table.index] = try SampleEntity(model, table, in: transaction)
            open += model.linkedModels
        }
        try SampleCounts.plan(
            entities, root: root, count: max(0, count), related: max(0, related), schema, in: transaction)
        planOrder()
    }

    /// Models that others depend on come first.
    private func planOrder() {
        let numbers = entities.keys.sorted()
        let places = Dictionary(uniqueKeysWithValues: zip(numbers, numbers.indices))
        let links = schema.references.filter { entities[$0.source] != nil && $0.source != $0.target }
        func plan(_ isFirm: (Reference) -> Bool) -> SaveOrder? {
            SaveOrder(
                count: numbers.count,
                edges: links.compactMap { link in
                    guard let source = places[link.source], let target = places[link.target] else { return nil }
                    return SaveOrder.Edge(source: source, target: target, isBreakable: !isFirm(link))
                })
        }
        order = ((plan { !$0.isOptional } ?? plan { _ in false })?.order ?? []).map { numbers[$0] }
        let made = Dictionary(uniqueKeysWithValues: zip(order, order.indices))
        deferred = Set(links.filter { made[$0.source] ?? 0 < made[$0.target] ?? 0 }.map(\.index))
    }

    /// Creates and writes everything, and returns the root's objects.
    func insert() throws -> [Root] {
        for index in order { try make(index) }
        for index in order { try close(index) }
        // A row may refer to one that is written after it.
        try transaction.deferReferences()
        for index in order { try entities[index]?.insert(in: transaction) }
        for join in schema.joins {
            guard let source = entities[join.source], let target = entities[join.target] else { continue }
            try SampleJoins(join, source, target, &random, in: transaction).insert(in: transaction)
        }
        return adjust == nil ? objects : try transaction.update(objects)
    }

    // MARK: Making

    /// The to-ones of a model that are set when its objects are created, or afterwards.
    private func targets(of entity: SampleEntity, areDeferred: Bool) throws -> [SampleTargets] {
        try schema.references.compactMap { reference in
            guard reference.source == entity.table.index, deferred.contains(reference.index) == areDeferred,
                let target = entities[reference.target]
            else { return nil }
            return try SampleTargets(reference, to: target, from: entity, in: transaction)
        }
    }

    /// Creates the rows of a model.
    private func make(_ index: Int) throws {
        guard let entity = entities[index] else { return }
        var targets = try targets(of: entity, areDeferred: false)
        for number in 0..<entity.wanted {
            guard let refusal = try makeRow(of: entity, &targets) else { continue }
            let isCountedOn = schema.references.contains { $0.target == index && deferred.contains($0.index) }
            if index == root || number == 0 || isCountedOn {
                throw RelataError.invalidUse(
                    "insertSample can't make \(entity.wanted) \(entity.table.name) objects, only \(number): \(refusal)")
            }
            // For a model whose number isn't given, fewer objects are better than none.
            entity.wanted = number
            return
        }
    }

    /// Creates one row, or returns the reason why it can't.
    private func makeRow(of entity: SampleEntity, _ targets: inout [SampleTargets]) throws -> String? {
        let own = entity.stored.count + entity.rows.count
        var refusals: [String] = []
        for attempt in 0..<100 {
            var row = try entity.attributes(attempt: attempt, &random)
            var picks: [Int?] = []
            for target in targets {
                let reference = target.reference
                let isSelf = reference.target == reference.source
                let pick = target.pick(&random) ?? (isSelf && !reference.isOptional ? own : nil)
                if pick == nil, !reference.isOptional {
                    return "no \(schema.tables[reference.target].name) is left for \(reference.property)"
                }
                picks.append(pick)
                if let pick { link(&row, of: entity, reference, to: pick) }
            }
            var object: Root?
            if !isOpen(entity) {
                switch try finish(entity.model, row, entity) {
                case .finished(let values, let root): (row, object) = (values, root)
                case .refused(let reason):
                    if !refusals.contains(reason) { refusals.append(reason) }
                    continue
                }
            }
            if let set = entity.collision(of: row) {
                let reason = "no more values of \(set.joined(separator: " and ")) differ"
                if !refusals.contains(reason) { refusals.append(reason) }
                continue
            }
            entity.take(row)
            entity.rows.append(row)
            if let object { objects.append(object) }
            for place in targets.indices where targets[place].reference.target == entity.table.index {
                targets[place].append()
            }
            for (place, pick) in picks.enumerated() { if let pick { targets[place].take(pick) } }
            return nil
        }
        return refusals.prefix(3).joined(separator: "; ")
    }

    /// Whether the objects of a model can be read only when links that are deferred are set.
    private func isOpen(_ entity: SampleEntity) -> Bool {
        schema.references.contains {
            $0.source == entity.table.index && deferred.contains($0.index)
                && (entity.table.index == root || !$0.isOptional)
        }
    }

    /// Sets the links of a model that were deferred.
    private func close(_ index: Int) throws {
        guard let entity = entities[index] else { return }
        var targets = try targets(of: entity, areDeferred: true)
        for (number, old) in entity.rows.enumerated() where !targets.isEmpty {
            var row = old
            for place in targets.indices {
                let reference = targets[place].reference
                guard let pick = targets[place].pick(&random) else {
                    if reference.isOptional { continue }
                    throw RelataError.invalidUse(
                        "insertSample can't make \(entity.table.name.withArticle): no \(schema.tables[reference.target].name) is "
                            + "left for \(reference.property)")
                }
                let unset = row
                link(&row, of: entity, reference, to: pick)
                if entity.collision(of: row, replacing: unset) == nil {
                    targets[place].take(pick)
                } else {
                    row = unset
                }
            }
            if isOpen(entity) { row = try finished(row, of: entity) }
            entity.take(row)
            entity.rows[number] = row
        }
    }

    private func finished(_ row: [Value], of entity: SampleEntity) throws -> [Value] {
        var refusal = ""
        for _ in 0..<100 {
            switch try finish(entity.model, row, entity) {
            case .finished(let values, let object):
                if let set = entity.collision(of: values, replacing: row) {
                    refusal = "another has the same \(set.joined(separator: " and "))"
                    continue
                }
                if let object { objects.append(object) }
                return values
            case .refused(let reason): refusal = reason
            }
        }
        throw RelataError.invalidUse("insertSample can't make \(entity.table.name.withArticle): \(refusal)")
    }

    private func link(_ row: inout [Value], of entity: SampleEntity, _ reference: Reference, to index: Int) {
        guard let target = entities[reference.target] else { return }
        let isItself = target === entity && index == entity.stored.count + entity.rows.count
        let key = isItself ? entity.table.keyColumns.map { row[$0] } : target.key(index).values
        for (column, value) in zip(entity.table.columnIndexes(of: reference.property), key) { row[column] = value }
    }

    // MARK: Checking

    private enum Outcome {
        /// The row as the model writes it, and the object if it belongs to the root.
        case finished([Value], Root?)
        case refused(String)
    }

    /// Creates an object from a row, has it adjusted, and checks it.
    private func finish<M: Model>(_ model: M.Type, _ row: [Value], _ entity: SampleEntity) throws -> Outcome {
        var object: M
        do {
            object = try transaction.object(model, values: row)
        } catch RelataError.corruptStore(let message) {
            throw RelataError.invalidUse(
                "insertSample can't make \(M.entityName.withArticle), \(message). Conform the type to SampleValue")
        }
        if let adjust, var adjusted = object as? Root {
            try adjust(&adjusted, &random)
            object = adjusted as? M ?? object
        }
        do {
            try object.validate()
        } catch {
            return .refused("its validate() refuses it: \(error)")
        }
        var binder = Binder(collecting: row.count)
        try object.bind(to: &binder)
        for (column, sampler) in entity.samplers {
            for limit in sampler.attribute.limits {
                let type = entity.table.columns[column].type
                guard let failure = limit.failure(of: binder.values[column], type: type) else { continue }
                return .refused("\(sampler.attribute.name) \(failure): set it with adjust")
            }
        }
        return .finished(binder.values, object as? Root)
    }
}
