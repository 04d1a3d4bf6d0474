import RelataCore

/// An object that is about to be saved.
public struct CloudSave: Sendable {
    /// The class.
    public let className: String
    /// The object as it will be stored, with its class. Changes of its fields are stored too; a field that is removed is
    /// deleted. `username`, `email` and `authData` of a user can't be changed.
    public var object: JSONObject
    /// The object as it is stored; `nil` for a new one.
    public let original: JSONObject?
    /// Whether the object is new.
    public var isNew: Bool { original == nil }
}

extension CloudSave {
    /// The object's members, with those to delete. Its access list and its relations aren't fields that can be deleted.
    fileprivate var members: JSONObject {
        var members = object
        for (name, value) in original ?? [:]
        where object[name] == nil && name != "ACL" && value["__type"] != "Relation" {
            members[name] = ["__op": "Delete"]
        }
        return members
    }
}

extension CloudCode {
    /// The hooks of requests that save or delete objects of a class.
    struct SaveHooks: Sendable {
        var beforeSave: [@Sendable (inout CloudSave, CloudCall) async throws -> Void] = []
        var afterSave: [@Sendable (CloudSave, CloudCall) async -> Void] = []
        var beforeDelete: [@Sendable (JSONObject, CloudCall) async throws -> Void] = []
        var afterDelete: [@Sendable (JSONObject, CloudCall) async -> Void] = []

        /// Whether a closure answers a trigger.
        func answers(_ trigger: Trigger) -> Bool {
            switch trigger {
            case .beforeSave: !beforeSave.isEmpty
            case .afterSave: !afterSave.isEmpty
            case .beforeDelete: !beforeDelete.isEmpty
            case .afterDelete: !afterDelete.isEmpty
            default: false
            }
        }
    }

    /// Calls `body` with each object of a class that a request is about to save. `body` may change the object. Its error
    /// refuses the request, as in a function.
    ///
    /// No transaction is open during the call, so other writers don't wait. If somebody else changes the object in the
    /// meantime, `body` is called again with the new object. A store of an app's models has ``ModelHooks`` instead: it
    /// doesn't call `body`, and neither do sessions and delete rules. Files and parameters have other hooks.
    public mutating func beforeSave(
        _ className: String, _ body: @escaping @Sendable (inout CloudSave, CloudCall) async throws -> Void
    ) {
        saves[className, default: SaveHooks()].beforeSave.append(body)
    }

    /// Calls `body` with each object of a class that a request saved, as it is stored at the end of the request, and
    /// with the object before. The reply is sent afterwards.
    public mutating func afterSave(
        _ className: String, _ body: @escaping @Sendable (CloudSave, CloudCall) async -> Void
    ) {
        saves[className, default: SaveHooks()].afterSave.append(body)
    }

    /// Calls `body` with each object of a class that a request is about to delete. Its error refuses the request, as in
    /// a function.
    public mutating func beforeDelete(
        _ className: String, _ body: @escaping @Sendable (_ object: JSONObject, CloudCall) async throws -> Void
    ) {
        saves[className, default: SaveHooks()].beforeDelete.append(body)
    }

    /// Calls `body` with each object of a class that a request deleted, as it was before. The reply is sent afterwards.
    public mutating func afterDelete(
        _ className: String, _ body: @escaping @Sendable (_ object: JSONObject, CloudCall) async -> Void
    ) {
        saves[className, default: SaveHooks()].afterDelete.append(body)
    }
}

extension ParseService {
    /// Asks the app's closures about an object before it is written.
    ///
    /// - Returns: The write as the closures want it.
    func answer(
        to question: WebhookQuestion, _ hooks: CloudCode.SaveHooks, _ cloud: CloudCall
    ) async throws -> ObjectWrite {
        let write = question.write
        if case .delete = write {
            try await CodeFailure.catching {
                for hook in hooks.beforeDelete { try await hook(question.object, cloud) }
            }
            return write
        }
        var save = CloudSave(className: write.className, object: question.object, original: question.original)
        try await CodeFailure.catching { for hook in hooks.beforeSave { try await hook(&save, cloud) } }
        return try question.write(with: save.members, options.prohibitedNames)
    }

    /// Tells the app's closures that an object was saved or deleted.
    func tell(_ notice: ObjectNotice, _ hooks: CloudCode.SaveHooks, _ cloud: CloudCall) async {
        if notice.trigger == .afterDelete {
            for hook in hooks.afterDelete { await hook(notice.object, cloud) }
            return
        }
        let save = CloudSave(className: notice.className, object: notice.object, original: notice.original)
        for hook in hooks.afterSave { await hook(save, cloud) }
    }
}
