import RelataCore

/// The classes of what the server keeps for itself besides accounts. They are made when they are first needed.
enum ServiceClasses {
    /// The parameters that apps read at ``/config``.
    static let config = "_GlobalConfig"

    /// The runs of jobs, which the master key may read.
    static let jobStatus = "_JobStatus"
    /// Which jobs run, and when they were started last.
    static let jobLock = "_JobLock"

    /// How often events happened in apps.
    static let event = "_EventCount"

    /// The classes that no client knows.
    static let hidden = [config, jobLock, event]
    /// The classes whose objects the master key may read and delete, and only the server writes.
    static let ofMaster = [jobStatus]

    /// Apps on devices, which clients tell of.
    static let installation = "_Installation"
    /// The classes that clients may name, once they are there.
    static let visible = ofMaster + [installation]

    /// What is said of a run that didn't come to its end.
    static let stopped = "the server stopped while the job ran"

    /// The entity of a class; `nil` for another one.
    static func entity(_ name: String) -> Entity? {
        func attribute(_ name: String, _ type: AttributeType) -> Property { .attribute(Attribute(name, type: type)) }
        if name == installation { return InstallationClass.entity }
        var entity = SchemaDraft.newEntity(name)
        if name == jobStatus {
            entity.properties += [
                attribute("jobName", .text), attribute("source", .text), attribute("status", .text),
                .attribute(Attribute("message", type: .text, isOptional: true)),
                .attribute(Attribute("params", type: .json, isOptional: true)),
                .attribute(Attribute("finishedAt", type: .date(.microseconds), isOptional: true)),
            ]
            return entity
        }
        (entity.createdAt, entity.updatedAt) = (nil, nil)
        // Times are milliseconds since 1970.
        switch name {
        case config:
            entity.properties = [attribute("name", .text), attribute("value", .text), attribute("isPrivate", .integer)]
        case jobLock:
            entity.properties = [
                attribute("name", .text), attribute("run", .text), attribute("startedAt", .integer),
                attribute("endsAt", .integer),
            ]
            entity.indexes = [["run"]]
        case event:
            entity.properties = [attribute("name", .text), attribute("day", .text), attribute("count", .integer)]
            entity.key = ["name", "day"]
            entity.indexes = [["day"]]
            return entity
        default: return nil
        }
        entity.key = ["name"]
        return entity
    }
}

extension ParseService {
    /// Makes a class of the server's own, if it isn't there.
    ///
    /// - Throws: ``ParseError`` 119 where its table is another program's.
    func makeServiceClass(_ name: String) async throws {
        if AccountClasses.isThere(name, in: store.currentClasses.storedSchema) { return }
        try await store.alter { draft, _ in draft.addInternalClass(name) }
        guard AccountClasses.isThere(name, in: store.currentClasses.storedSchema) else {
            throw ParseError.tableIsForeign(name)
        }
    }
}

extension ParseError {
    /// The error where the table of a class of the server's own is another program's.
    static func tableIsForeign(_ name: String) -> ParseError {
        ParseError(
            .operationForbidden, "the table \(name) is another program's: rename it there, or use another database")
    }
}
