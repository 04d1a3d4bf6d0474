import RelataCore
import RelataSQLite

/// Lists, written once the object is there.
extension RecordSaver {
    /// Makes lists what was set.
    ///
    /// - Returns: The rows that were changed by that, by table.
    func writeLinks(
        _ edits: [String: RecordValue], of owner: KeyValue, _ layout: RecordLayout
    ) throws -> [Int: Set<KeyValue>] {
        let schema = transaction.schema
        let run = WriteRun(transaction.connection, schema: schema, isSchemaFixed: false, now: transaction.now)
        for (name, value) in edits.sorted(by: { $0.key < $1.key }) {
            guard case .related(let link, let target, _)? = layout[name], let number = schema.index(of: target) else {
                continue
            }
            let links: [RecordLink] =
                switch value {
                case .link(let link): [link]
                case .links(let links): links
                default: []
                }
            var seen: Set<KeyValue> = []
            let members = links.compactMap(\.key).filter { seen.insert($0).inserted }
            run.plan.add(
                LinkEdits(
                    owner: .key(owner), link: PlannedLink(name, number, link, schema),
                    changes: [.set(members.map { .key($0) })]))
        }
        if run.plan.edits.isEmpty { return [:] }
        try run.writeEdits()
        transaction.counts.merge(run.counted)
        return run.touched
    }
}
