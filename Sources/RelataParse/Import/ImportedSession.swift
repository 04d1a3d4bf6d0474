import RelataCore
import RelataEngine

/// A session of another server. Only the digest of its token is stored, so its user stays signed in.
struct ImportedSession: Sendable {
    /// The reason why a session isn't stored.
    enum Obstacle: String, Error, CaseIterable {
        case isThere = "they already exist"
        case isOver = "they have ended"
        case hasNoUser = "their users don't exist"
        case hasNoToken = "the source doesn't return their tokens, or the tokens could be guessed"
        case isUnreadable = "they have no objectId, or a time of expiry that isn't a date"
    }

    let id: String
    let user: String
    let token: String
    /// In microseconds since 1970; `nil` for a session without an end.
    let end: Int64?
    let action: String
    let provider: String
    let isRestricted: Bool
    let installation: String?
    /// The times of the session and of its last change, in microseconds since 1970.
    let times: [String: Int64]

    /// The shortest token that can't be guessed: 16 characters. Those of parse-server have 34.
    private static let tokenLength = 16...1024

    /// - Parameter token: The session's token.
    init(_ object: ImportedObject, token: String?) throws(Obstacle) {
        guard let token, Self.tokenLength.contains(token.utf8.count) else { throw .hasNoToken }
        // No user has another id, and not every engine can be asked for it.
        guard let user = Self.plain(object.members["user"]?["objectId"]) else { throw .hasNoUser }
        let end = object.members["expiresAt"] ?? .null
        guard let id = object.id, ObjectBody.canBeID(id) else { throw .isUnreadable }
        guard end.isNull || Self.microseconds(end) != nil else { throw .isUnreadable }
        (self.id, self.user, self.token, self.end) = (id, user, token, Self.microseconds(end))
        let created = object.members["createdWith"]
        action = Self.plain(created?["action"]) ?? "login"
        provider = Self.plain(created?["authProvider"]) ?? "password"
        isRestricted = object.members["restricted"] == true
        installation = Self.plain(object.members["installationId"])
        var times: [String: Int64] = [:]
        for name in ["createdAt", "updatedAt"] { times[name] = object.members[name].flatMap(Self.microseconds) }
        self.times = times
    }

    /// A text that every engine can hold.
    private static func plain(_ json: JSONValue?) -> String? {
        json?.string.flatMap { ObjectBody.canBeID($0) ? $0 : nil }
    }

    private static func microseconds(_ json: JSONValue) -> Int64? {
        (json["iso"]?.string ?? json.string).flatMap { DateText.microseconds(text: $0) }
    }
}

extension ParseImport {
    /// Stores some sessions. Their users must be there.
    func writeSessions(_ page: [JSONObject]) async throws {
        var report = reports[InternalClasses.session] ?? Report(name: InternalClasses.session)
        defer { reports[InternalClasses.session] = report }
        var sessions: [ImportedSession] = []
        var obstacles: [ImportedSession.Obstacle] = []
        for object in page {
            let token = object["_session_token"]?.string ?? object["sessionToken"]?.string
            do throws(ImportedSession.Obstacle) {
                sessions.append(try ImportedSession(read(object, of: InternalClasses.session), token: token))
            } catch {
                obstacles.append(error)
            }
        }
        let others = try await service.importSessions(sessions)
        report.created += sessions.count - others.count
        for obstacle in obstacles + others {
            switch obstacle {
            case .isThere: report.existing += 1
            case .hasNoUser: report.dangling += 1
            case .isOver, .hasNoToken, .isUnreadable: report.refused += 1
            }
            obstaclesOfSessions[obstacle, default: 0] += 1
        }
    }

    /// Records the number of sessions that aren't moved, and the reasons. There may be many, so they aren't named.
    func noteSessions() {
        for obstacle in ImportedSession.Obstacle.allCases where obstacle != .isThere {
            guard let count = obstaclesOfSessions[obstacle] else { continue }
            note("\(InternalClasses.session): \(count) of them not moved: \(obstacle.rawValue)")
        }
    }
}

extension ParseService {
    /// Stores sessions of another server.
    ///
    /// - Returns: The obstacles to those that weren't stored.
    fileprivate func importSessions(_ sessions: [ImportedSession]) async throws -> [ImportedSession.Obstacle] {
        if sessions.isEmpty { return [] }
        return try await store.write(as: .master) { transaction in
            var obstacles: [ImportedSession.Obstacle] = []
            for session in sessions {
                if let obstacle = try transaction.add(session) { obstacles.append(obstacle) }
            }
            return obstacles
        }
    }
}

extension ParseTransaction {
    /// Stores a session of another server.
    ///
    /// - Returns: The reason why the session isn't stored; `nil` if it is.
    fileprivate func add(_ session: ImportedSession) throws -> ImportedSession.Obstacle? {
        guard let secrets, let table = schema[InternalClasses.session], table.entity.isSession else {
            throw ParseError.usersAreOff
        }
        let end = session.end.map(DateText.date(microseconds:))
        if let end, end <= now { return .isOver }
        guard try user("objectId", session.user) != nil else { return .hasNoUser }
        let digest = secrets.digestText(of: session.token)
        if try connection.isStored(KeyValue(.text(session.id)), in: table) { return .isThere }
        let plan = QueryPlan(
            entity: table.name,
            condition: .comparison(.equal, .property(scope: 0, path: ["_token"]), .value(.text(digest)), []))
        let same = try unlimitedCompiler.keys(plan).statement
        if try !connection.values(same).isEmpty { return .isThere }
        var times = ["createdAt": now, "updatedAt": now]
        times.merge(session.times.mapValues(DateText.date(microseconds:))) { _, given in given }
        times["expiresAt"] = end
        try addSession(
            session.id, of: session.user, (session.action, session.provider), digest: digest,
            isRestricted: session.isRestricted, installation: session.installation, times: times, to: table)
        return nil
    }
}
