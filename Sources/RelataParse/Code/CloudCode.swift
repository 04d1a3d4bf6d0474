import RelataCore

/// What an app does on its server besides keeping objects: functions that clients call by name, jobs that run in the
/// background, and what is done before and after objects are found and users sign in.
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
/// What a function throws reaches the client if it is a ``ParseError``. Of any other error the client is told no more than
/// that the function failed (141), and the server's log what it was.
///
/// Copies share the jobs that run.
public struct CloudCode: Sendable {
    /// A function as it is called.
    typealias Function = @Sendable (CloudCall) async throws -> JSONValue

    /// What is known of a function.
    struct Definition: Sendable {
        let rules: [CloudRule]
        let body: Function
    }

    /// What is known of a job.
    struct Job: Sendable {
        let schedule: JobSchedule?
        let allowsSeveral: Bool
        let body: @Sendable (CloudJob) async throws -> Void
    }

    /// The jobs by their names.
    private(set) var jobs: [String: Job] = [:]
    /// Those that run in this process.
    let running = RunningJobs()
    /// Gets what goes wrong in jobs; a server logs it by default.
    public var report: (@Sendable (any Error) -> Void)?
    /// What is called with requests that find objects, by class.
    var finds: [String: FindHooks] = [:]
    /// What is called when users sign in and out.
    var logins = LoginHooks()
    /// The functions by their names.
    private(set) var functions: [String: Definition] = [:]
    /// The header fields, by their names in lower case, that functions look at besides those that the protocol reads.
    public var headerNames: [String] = []

    /// Whether webhooks answer functions and triggers that the app's code has no closure for.
    var allowsWebhooks = false

    /// No functions.
    public init() {}

    /// Lets clients call a function: `POST /functions/averageStars`.
    ///
    /// - Parameters:
    ///   - name: The name that clients call it by. A function that has it already is replaced.
    ///   - rules: What must hold before it is run; who breaks one of them is refused with 142.
    ///   - body: Makes the result of the parameters.
    public mutating func function(
        _ name: String, requires rules: [CloudRule] = [],
        _ body: @escaping @Sendable (CloudCall) async throws -> JSONValue
    ) {
        functions[name] = Definition(rules: rules, body: body)
    }

    /// Lets clients call a function whose parameters and result are types of the app.
    ///
    /// Dates are Parse's (`{"__type": "Date", …}`), and `Data` is its `Bytes`. Who sends other parameters than the type
    /// takes is refused with 142.
    ///
    /// - Parameters:
    ///   - name: The name that clients call it by. A function that has it already is replaced.
    ///   - parameters: The type of its parameters.
    ///   - rules: What must hold before it is run; who breaks one of them is refused with 142.
    ///   - body: Makes the result of the parameters.
    public mutating func function<Parameters: Decodable & SendableMetatype, Result: Encodable & SendableMetatype>(
        _ name: String, taking parameters: Parameters.Type, requires rules: [CloudRule] = [],
        _ body: @escaping @Sendable (Parameters, CloudCall) async throws -> Result
    ) {
        function(name, requires: rules) { call in
            try CloudCoding.encode(try await body(try CloudCoding.decode(parameters, from: call.parameters), call))
        }
    }
    // MARK: Jobs

    /// Has a job run by itself, or when the holder of the master key asks for it: `POST /jobs/cleanUp`.
    ///
    /// What becomes of each run is an object of the class `_JobStatus`. A job that the server's end interrupts is told as
    /// failed, and isn't begun again but by its schedule.
    ///
    /// - Parameters:
    ///   - name: Its name. A job that has it already is replaced.
    ///   - schedule: When it is run by itself; `nil` for never. At its times it never runs twice at once, whichever processes
    ///     serve the database.
    ///   - severalAtOnce: Whether it may be asked for while it runs.
    ///   - body: Does the work. It should end soon once its task is cancelled: then the server stops.
    public mutating func job(
        _ name: String, schedule: JobSchedule? = nil, severalAtOnce: Bool = false,
        _ body: @escaping @Sendable (CloudJob) async throws -> Void
    ) {
        jobs[name] = Job(schedule: schedule, allowsSeveral: severalAtOnce, body: body)
    }

    /// Checks what can't be.
    ///
    /// - Throws: ``RelataError`` that says what it is.
    public func check() throws(RelataError) {
        for (name, job) in jobs.sorted(by: { $0.key < $1.key }) {
            if let problem = job.schedule?.problem { throw .invalidUse("the schedule of the job \(name): \(problem)") }
        }
    }
}
