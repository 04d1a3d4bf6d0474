import RelataCore

/// An app's code on its server: functions that clients call by name, jobs that run in the background, and hooks that
/// run before and after objects are saved, deleted and found, files are stored and read, users sign in, and clients
/// follow live queries. It also sends push notifications.
///
/// ```swift
/// var options = ParseService.Options()
/// options.code.function("averageStars", requires: [.required("movie", .string)]) { call in
///     let reviews = try await call.asMaster.find("Review", where: ["movie": call["movie"]])
///     let stars = reviews.compactMap { $0["stars"]?.number }
///     guard !stars.isEmpty else { throw ParseError(.objectNotFound, "nobody has seen it") }
///     return JSONValue(number: stars.reduce(0, +) / Double(stars.count))
/// }
/// ```
///
/// A ``ParseError`` that a function throws reaches the client. For any other error, the client only learns that the
/// function failed (141), and the server's log has the error.
public struct CloudCode: Sendable {
    /// A function as it is called.
    typealias Function = @Sendable (CloudCall) async throws -> JSONValue

    /// A registered function.
    struct Definition: Sendable {
        let rules: [CloudRule]
        let body: Function
    }

    /// A registered job.
    struct Job: Sendable {
        let schedule: JobSchedule?
        let allowsSeveral: Bool
        let body: @Sendable (CloudJob) async throws -> Void
    }

    /// The jobs by their names.
    private(set) var jobs: [String: Job] = [:]
    /// Called with errors in jobs, and in the database while the app's code uses it; a server logs them by default.
    public var report: (@Sendable (any Error) -> Void)?
    /// The hooks of requests that find objects, by class.
    var finds: [String: FindHooks] = [:]
    /// The hooks of requests that save or delete objects, by class.
    var saves: [String: SaveHooks] = [:]
    /// The hooks of signing in and out.
    var logins = LoginHooks()
    /// The hooks of live queries.
    var live = LiveHooks()
    /// The hooks of files.
    var files = FileHooks()
    /// The hooks of parameters.
    var config = ConfigHooks()
    /// Sends a push notification; `nil` if push is off.
    var sendPush: (@Sendable (CloudPush, CloudCall) async throws -> Void)?
    /// The functions by their names.
    private(set) var functions: [String: Definition] = [:]
    /// The names of further header fields, in lower case, that functions can read in addition to those of the protocol.
    public var headerNames: [String] = []

    /// Whether webhooks answer functions and triggers that the app's code has no closure for.
    var allowsWebhooks = false

    /// No functions.
    public init() {}

    /// Lets clients call a function: `POST /functions/averageStars`.
    ///
    /// - Parameters:
    ///   - name: The name for clients. A function with the same name is replaced.
    ///   - rules: The rules that are checked before the function runs. A call that breaks one is refused with 142.
    ///   - body: Computes the result.
    public mutating func function(
        _ name: String, requires rules: [CloudRule] = [],
        _ body: @escaping @Sendable (CloudCall) async throws -> JSONValue
    ) {
        functions[name] = Definition(rules: rules, body: body)
    }

    /// Lets clients call a function whose parameters and result are types of the app.
    ///
    /// Dates have Parse's format (`{"__type": "Date", …}`), and `Data` is its `Bytes`. Parameters that don't match the
    /// type are refused with 142.
    ///
    /// - Parameters:
    ///   - name: The name for clients. A function with the same name is replaced.
    ///   - parameters: The type of the parameters.
    ///   - rules: The rules that are checked before the function runs. A call that breaks one is refused with 142.
    ///   - body: Computes the result.
    public mutating func function<Parameters: Decodable & SendableMetatype, Result: Encodable & SendableMetatype>(
        _ name: String, taking parameters: Parameters.Type, requires rules: [CloudRule] = [],
        _ body: @escaping @Sendable (Parameters, CloudCall) async throws -> Result
    ) {
        function(name, requires: rules) { call in
            try CloudCoding.encode(try await body(try CloudCoding.decode(parameters, from: call.parameters), call))
        }
    }
    // MARK: Jobs

    /// Adds a job, which runs on a schedule, or when a caller with the master key starts it: `POST /jobs/cleanUp`.
    ///
    /// Each run has an object of the class `_JobStatus`. If the server stops during a run, the run is recorded as
    /// failed, and only the schedule starts the job again.
    ///
    /// - Parameters:
    ///   - name: The job's name. A job with the same name is replaced.
    ///   - schedule: The times when the job runs; `nil` for only on request. Scheduled runs never overlap, even if
    ///     several processes serve the database.
    ///   - severalAtOnce: Whether requests may start the job while it runs.
    ///   - body: Does the work. If its task is cancelled, the server is stopping: the body should end soon.
    public mutating func job(
        _ name: String, schedule: JobSchedule? = nil, severalAtOnce: Bool = false,
        _ body: @escaping @Sendable (CloudJob) async throws -> Void
    ) {
        jobs[name] = Job(schedule: schedule, allowsSeveral: severalAtOnce, body: body)
    }

    /// Checks the schedules, and that no closure is one that is never called.
    ///
    /// - Throws: `RelataError` that describes the error.
    public func check() throws(RelataError) {
        for (name, job) in jobs.sorted(by: { $0.key < $1.key }) {
            if let problem = job.schedule?.problem { throw .invalidUse("the schedule of the job \(name): \(problem)") }
        }
        let others = [
            (InternalClasses.session, "beforeLogin, afterLogin or afterLogout"),
            (Trigger.files, "beforeSaveFile and its like"), (Trigger.config, "beforeSaveConfig or afterSaveConfig"),
        ]
        for (name, other) in others where saves[name] != nil {
            throw .invalidUse("\(name) has no closures of saves and deletions of classes: use \(other)")
        }
        if finds[Trigger.files] != nil {
            throw .invalidUse("\(Trigger.files) has no closures of queries: use beforeFindFile or afterFindFile")
        }
    }
}
