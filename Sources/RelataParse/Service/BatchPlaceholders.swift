/// Names of new objects within their batch, until their ids are known: `{"method": "POST", "path": "/classes/Author",
/// "placeholder": "new-1", "body": {…}}`. A pointer of another request to `new-1` of that class leads to the object.
struct BatchPlaceholders: Sendable {
    /// The position of the request that makes each object.
    private(set) var places: [Pointer: Int] = [:]
    /// The placeholder of the object that a request makes.
    private var pointers: [Int: Pointer] = [:]
    /// The ids of created objects.
    private var ids: [Pointer: String] = [:]

    /// - Throws: ``ParseError`` 107 for an invalid or repeated placeholder, one of a request that creates no object,
    ///   and one in a batch without `transaction`.
    init(
        _ requests: [JSONValue], _ routes: [Result<ObjectRoute, ParseError>], isAtomic: Bool
    ) throws(ParseError) {
        for (place, (request, route)) in zip(requests, routes).enumerated() {
            guard let member = request["placeholder"], !member.isNull else { continue }
            guard isAtomic, case .success(.write(.create(let className, let body))) = route, body.objectID == nil,
                let name = member.string, (1...256).contains(name.utf8.count)
            else {
                throw ParseError(
                    .invalidJSON,
                    """
                    placeholder must be text of 1 to 256 bytes, for a new object without an objectId, in a batch with \
                    "transaction": true
                    """)
            }
            let pointer = Pointer(className: className, objectID: name)
            pointers[place] = pointer
            guard places.updateValue(place, forKey: pointer) == nil else {
                throw ParseError(
                    .invalidJSON, "two new objects of \(className) have the placeholder \(name.prefix(64))")
            }
        }
    }

    /// Whether no object has one.
    var isEmpty: Bool { places.isEmpty }

    /// Records that a request created an object.
    mutating func note(_ id: String, at place: Int) {
        if let pointer = pointers[place] { ids[pointer] = id }
    }

    /// A request with the ids of the objects created before it.
    ///
    /// - Throws: ``ParseError`` 102 for an object that isn't created yet: the objects point at each other in a cycle.
    func replacing(in route: ObjectRoute) throws(ParseError) -> ObjectRoute {
        guard !isEmpty, case .write(let write) = route else { return route }
        switch write {
        case .create(let name, let body): return .write(.create(name, try replacing(in: body)))
        case .update(let name, let id, let body):
            return .write(.update(name, try replacing(id, of: name), try replacing(in: body)))
        case .delete(let name, let id): return .write(.delete(name, try replacing(id, of: name)))
        }
    }

    private func replacing(in body: ObjectBody) throws(ParseError) -> ObjectBody {
        try body.mapChanges { (change) throws(ParseError) in
            switch change {
            case .set(let value):
                guard let pointer = Pointer(value) else { return change }
                return .set(try replacing(pointer)?.json ?? value)
            case .addRelation(let pointers): return .addRelation(try replacing(pointers))
            case .placeRelation(let pointers, let other):
                return .placeRelation(
                    try replacing(pointers), after: try replacing([other].compactMap(\.self)).first)
            default: return change
            }
        }
    }

    private func replacing(_ pointers: [Pointer]) throws(ParseError) -> [Pointer] {
        var replaced: [Pointer] = []
        for pointer in pointers { replaced.append(try replacing(pointer) ?? pointer) }
        return replaced
    }

    private func replacing(_ id: String, of className: String) throws(ParseError) -> String {
        try replacing(Pointer(className: className, objectID: id))?.objectID ?? id
    }

    /// The target of a placeholder; `nil` for any other pointer.
    private func replacing(_ pointer: Pointer) throws(ParseError) -> Pointer? {
        guard places[pointer] != nil else { return nil }
        guard let id = ids[pointer] else {
            throw ParseError(
                .invalidQuery,
                """
                \(pointer.className) \(pointer.objectID.prefix(64)) is created only after a request that points at it: in a \
                cycle, create all objects first, and set one of their pointers in a later request of the batch
                """)
        }
        return Pointer(className: pointer.className, objectID: id)
    }
}
