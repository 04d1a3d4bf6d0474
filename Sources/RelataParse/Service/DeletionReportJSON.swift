import RelataCore

/// A deletion's plan or report, as clients get it.
struct DeletionReportJSON {
    let classes: ClassSet

    /// ```json
    /// {"isDenied": false, "deleted": [{"className": "Artist", "objectIds": ["1"]}],
    ///  "unset": [{"className": "Song", "field": "artist", "objectIds": ["7"]}],
    ///  "removedRelations": [{"relation": "Book.authors", "pairs": [["3", "1"]]}], "blockers": [],
    ///  "shortages": [],
    ///  "cascades": [{"className": "Artist", "relation": "Artist.songs", "target": "Song"}]}
    /// ```
    ///
    /// The cascades form a tree with the class of the deleted object as its root: each other class of `deleted` is a
    /// target in it once.
    func json(_ report: DeletionReport) -> JSONValue {
        [
            "isDenied": .bool(report.isDenied),
            "deleted": .array(
                report.deleted.filter { !InternalClasses.hidden.contains($0.entity) }.map { objects in
                    ["className": .string(objects.entity), "objectIds": ids(objects.keys, objects.entity)]
                }),
            "unset": .array(
                report.nullified.map { links in
                    [
                        "className": .string(links.entity), "field": .string(links.property),
                        "objectIds": ids(links.keys, links.entity),
                    ]
                }),
            "removedRelations": .array(
                report.removedJoinRows.filter { !$0.relationship.hasSuffix("." + FileLinks.name) }.map { rows in
                    let names = classes.schema.join(of: rows).map {
                        (classes.schema.tables[$0.source].name, classes.schema.tables[$0.target].name)
                    }
                    return [
                        "relation": .string(rows.relationship),
                        "pairs": .array(
                            rows.pairs.map {
                                [id($0.source, names?.0 ?? ""), id($0.target, names?.1 ?? "")]
                            }),
                    ]
                }),
            "blockers": .array(
                report.blockers.map {
                    var members: JSONObject = [
                        "object": Pointer(
                            className: $0.object.entity, objectID: text($0.object.key, $0.object.entity)
                        ).json,
                        "field": .string($0.relationship),
                        "blocked": Pointer(
                            className: $0.blocked.entity, objectID: text($0.blocked.key, $0.blocked.entity)
                        ).json,
                    ]
                    if let reason = $0.reason { members["reason"] = .string(reason) }
                    return .object(members)
                }),
            "shortages": .array(
                report.shortages.map { list in
                    [
                        "object": Pointer(
                            className: list.entity, objectID: list.key.map { text($0, list.entity) } ?? ""
                        ).json,
                        "field": .string(list.property ?? ""), "message": .string(list.message),
                    ]
                }),
            "cascades": .array(
                report.tree.filter { !InternalClasses.hidden.contains($0.to) }.map { path in
                    [
                        "className": .string(path.from), "relation": .string(path.relationship),
                        "target": .string(path.to),
                    ]
                }),
        ]
    }

    private func ids(_ keys: KeyList, _ entity: String) -> JSONValue { .array(keys.map { id($0, entity) }) }

    private func id(_ key: KeyValue, _ entity: String) -> JSONValue { .string(text(key, entity)) }

    private func text(_ key: KeyValue, _ entity: String) -> String {
        classes[entity]?.objectID.text(key) ?? key.description
    }
}
