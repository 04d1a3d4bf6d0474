/// A request about the objects of one class: `/classes/Book`, `/classes/Book/x7Yz`.
enum ObjectRoute {
    case read(ObjectRead)
    case write(ObjectWrite)

    /// - Parameters:
    ///   - previous: The object that was written just before.
    ///   - prohibited: The names that no member of an object may have.
    /// - Throws: ``ParseError`` for unknown paths and invalid classes.
    init(
        _ call: ParseCall, after previous: ObjectBody? = nil, prohibited: ProhibitedNames
    ) throws(ParseError) {
        let path = call.path
        guard path.first == "classes", path.count == 2 || path.count == 3 else { throw ParseService.unknown(call) }
        let className = path[1]
        if let error = DisabledFeature.error(forClass: className) { throw error }
        let objectID = path.count == 3 ? path[2] : nil
        try Self.checkInternal(className, call)
        if call.method == .post || call.method == .put { try prohibited.check(call.body) }
        switch (call.method, objectID) {
        case (.get, nil): self = .read(.find(try FindRequest(className, call)))
        case (.get, let id?):
            self =
                try call.flag("deletionPlan")
                ? .read(.deletionPlan(className, id)) : .read(.get(try GetRequest(className, id, call)))
        case (.post, nil): self = .write(.create(className, try ObjectBody(call.body, after: previous)))
        case (.put, let id?): self = .write(.update(className, id, try ObjectBody(call.body, after: previous)))
        case (.delete, let id?):
            self = try call.isDryRun() ? .read(.deletionPlan(className, id)) : .write(.delete(className, id))
        default:
            throw ParseError.impossible(call)
        }
    }
}

extension ObjectRoute {
    /// Refuses requests for users and sessions that only work for other classes.
    fileprivate static func checkInternal(_ className: String, _ call: ParseCall) throws(ParseError) {
        if className == ServiceClasses.installation {
            if call.method == .post || call.method == .put, !call.caller.isImport {
                throw ParseError(
                    .operationForbidden, "installations are written at /installations, by separate requests")
            }
            guard call.isMaster || call.method == .get && call.path.count == 3 else {
                let operation = call.method == .get ? "find" : "delete"
                throw ParseError(
                    .operationForbidden,
                    "Clients aren't allowed to perform the \(operation) operation on the installation collection.")
            }
        }
        if ServiceClasses.ofMaster.contains(className) {
            guard call.isMaster else {
                throw ParseError(
                    .operationForbidden,
                    "Clients aren't allowed to use the \(className) collection: master key is required")
            }
            if call.method == .post || call.method == .put {
                throw ParseError(.operationForbidden, "only the server writes objects of \(className)")
            }
        }
        switch (className, call.method) {
        case (InternalClasses.session, .post), (InternalClasses.session, .put):
            throw ParseError(.operationForbidden, "sessions begin by signing in, and can't be changed")
        case (InternalClasses.user, .put)
        where call.isMaster && InternalClasses.userFields.allSatisfy { call.body[$0] == nil }:
            break
        case (InternalClasses.user, .delete):
            if call.isMaster { return }
            if try call.isDryRun() { return }
            throw usersApart
        case (InternalClasses.user, .post), (InternalClasses.user, .put): throw usersApart
        default: break
        }
    }

    private static let usersApart = ParseError(
        .operationForbidden, "users are created, changed and deleted at /users, by separate requests")
}

/// A request that reads objects.
enum ObjectRead: Sendable {
    case find(FindRequest)
    case get(GetRequest)
    case deletionPlan(String, String)

    /// The classes of objects that the read may find; `nil` for one that finds none.
    func found(in classes: ClassSet) -> [String]? {
        switch self {
        case .find(let request): request.found(in: classes)
        case .get(let request): [request.className]
        case .deletionPlan: nil
        }
    }

    /// - Throws: ``ParseError`` 119 for objects that are found with the consent of hooks.
    func checkIsFoundAlone(in classes: ClassSet, where isHooked: (String) -> Bool) throws(ParseError) {
        guard let name = found(in: classes)?.first(where: isHooked) else { return }
        throw ParseError.needsOwnRequest(name)
    }

    func run(in transaction: ParseTransaction, _ options: ParseService.Options) throws -> WireReply {
        switch self {
        case .find(let request): try request.run(in: transaction, options)
        case .get(let request): try request.run(in: transaction, options)
        case .deletionPlan(let className, let id): try transaction.deletionPlan(className, id)
        }
    }
}

/// A request that writes an object.
enum ObjectWrite: Sendable {
    case create(String, ObjectBody)
    case update(String, String, ObjectBody)
    case delete(String, String)

    /// The class.
    var className: String {
        switch self {
        case .create(let name, _), .update(let name, _, _), .delete(let name, _): name
        }
    }

    /// The object that is changed or deleted.
    var objectID: String? {
        switch self {
        case .update(_, let id, _), .delete(_, let id): id
        case .create: nil
        }
    }

    /// The class, and the object's changes.
    var body: (className: String, body: ObjectBody)? {
        switch self {
        case .create(let name, let body), .update(let name, _, let body): (name, body)
        case .delete: nil
        }
    }
}
