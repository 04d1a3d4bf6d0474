import RelataCore

/// The server's own classes besides those of accounts. They are created when they are first needed.
enum ServiceClasses {
    /// The configuration parameters of apps, at `/config`.
    static let config = "_GlobalConfig"

    /// The runs of jobs, which the master key can read.
    static let jobStatus = "_JobStatus"
    /// The running jobs, and the last start of each job.
    static let jobLock = "_JobLock"

    /// The counts of apps' events.
    static let event = "_EventCount"

    /// The classes that clients can't see.
    static let hidden = [config, jobLock, event]
    /// The classes whose objects only the server writes. The master key can read and delete them.
    static let ofMaster = [jobStatus]

    /// Apps on devices, which clients register.
    static let installation = "_Installation"
    /// The classes that clients can use once they exist.
    static let visible = ofMaster + [installation]

    /// The message of a run that was interrupted.
    static let stopped = "the server stopped while the job ran"

    /// The entity of a class; `nil` for any other class.
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
    /// Creates one of the server's own classes, if it doesn't exist.
    ///
    /// - Throws: ``ParseError`` 119 if its table belongs to another program.
    func makeServiceClass(_ name: String) async throws {
        if AccountClasses.isThere(name, in: store.currentClasses.storedSchema) { return }
        try await store.alter { draft, _ in draft.addInternalClass(name) }
        guard AccountClasses.isThere(name, in: store.currentClasses.storedSchema) else {
            throw ParseError.tableIsForeign(name)
        }
    }
}

extension ParseError {
    /// The error for a table of the server's own class that belongs to another program.
    static func tableIsForeign(_ name: String) -> ParseError {
        ParseError(
            .operationForbidden,
            "the table \(name) belongs to another program: rename it there, or use another database")
    }
}
