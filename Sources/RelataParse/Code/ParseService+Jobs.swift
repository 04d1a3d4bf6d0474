import Foundation
import RelataCore
import RelataEngine

extension ParseService {
    /// The number of seconds that a run counts as running after its process last extended its lock.
    static let jobLease = 60.0
    /// The number of seconds after which a process extends the locks of its runs, and looks for abandoned ones.
    private static let jobRound = 15.0
    /// The time that runs may take to end when the server stops.
    private static let jobGrace = Duration.seconds(3)

    /// Answers a request to start a job, `/jobs/NAME`. The reply contains the id of the run's status.
    func job(_ call: ParseCall) async throws -> WireReply {
        guard call.method == .post else {
            throw ParseError.impossible(call)
        }
        guard call.isMaster else { throw ParseError.masterKeyRequired }
        try checkHasJobs()
        var parameters = call.body.merging(call.parameters)
        var name = call.path.dropFirst().first
        if name == nil {
            name = parameters.removeValue(forKey: "jobName")?.string
        }
        guard let name, let job = options.code.jobs[name] else { throw DisabledFeature.noJob }
        try options.prohibitedNames.check(parameters)
        let start = JobStart(
            name: name, lock: job.allowsSeveral ? nil : name, source: "api", parameters: parameters)
        guard let id = try await begin(start, job) else {
            throw ParseError(.operationForbidden, "the job \(name) is already running", status: 409)
        }
        var reply = WireReply([:])
        reply.headers["x-parse-job-status-id"] = id
        return reply
    }

    /// Answers a request for the list of jobs, `/cloud_code/jobs/data`.
    func jobs(_ call: ParseCall) throws -> WireReply {
        guard call.method == .get, call.path.count == 3 else { throw Self.unknown(call) }
        guard call.isMaster else { throw ParseError.masterKeyRequired }
        func names(_ isNamed: (CloudCode.Job) -> Bool) -> JSONValue {
            .array(options.code.jobs.filter { isNamed($0.value) }.keys.sorted().map { .string($0) })
        }
        return WireReply(["in_use": names { $0.schedule != nil }, "jobs": names { _ in true }])
    }

    private func checkHasJobs() throws(ParseError) {
        guard store.models == nil else {
            throw ParseError(.operationForbidden, "a server of an app's own models has no jobs")
        }
    }

    /// Begins a run.
    ///
    /// - Returns: The id of the run's status; `nil` if it may not begin now, because the job is running, or because the
    ///   time of a scheduled job hasn't come.
    private func begin(_ start: JobStart, _ job: CloudCode.Job, now: Date = Date()) async throws -> String? {
        for name in [ServiceClasses.jobStatus, ServiceClasses.jobLock] { try await makeServiceClass(name) }
        let running = store.runningJobs.ids
        let id = try await store.write(as: .master) { transaction -> String? in
            // The wait for the database may have been long.
            let now = max(now, transaction.now)
            _ = try transaction.extendRuns(running, until: now.addingTimeInterval(Self.jobLease))
            try transaction.failAbandonedRuns(now)
            let id = transaction.objectIDs.next()
            guard try transaction.lock(start, run: id, now, lease: Self.jobLease) else { return nil }
            try transaction.addStatus(id, start)
            return id
        }
        guard let id else { return nil }
        let run = CloudJob(
            name: start.name, parameters: start.parameters, statusID: id,
            store: CloudStore(service: self, caller: .master))
        store.runningJobs.add(id, Task { await self.run(run, job) })
        return id
    }

    private func run(_ run: CloudJob, _ job: CloudCode.Job) async {
        var end: JSONObject = ["status": "succeeded"]
        do {
            try await job.body(run)
        } catch {
            options.code.report?(error)
            let reason =
                Task.isCancelled ? ServiceClasses.stopped : (error as? ParseError)?.message ?? "\(error)"
            end = ["status": "failed", "message": .string(String(reason.prefix(10_000)))]
        }
        // If the run was cancelled, its end is recorded by a separate task, which isn't cancelled.
        let (id, last) = (run.statusID, end)
        await Task {
            do {
                try await store.write(as: .master) { try $0.endRun(id, last) }
            } catch {
                options.code.report?(error)
            }
        }.value
        store.runningJobs.remove(id)
    }

    // MARK: Time

    /// Starts jobs whose time has come, extends the locks of the runs of this process, and records abandoned runs as
    /// failed.
    ///
    /// - Returns: The latest time for the next call.
    @discardableResult
    package func tendJobs(now: Date = Date()) async throws -> Date {
        let jobs = options.code.jobs
        var next = now.addingTimeInterval(Self.jobRound)
        guard !jobs.isEmpty, store.models == nil else { return next }
        let scheduled = jobs.filter { $0.value.schedule != nil }
        if !scheduled.isEmpty {
            for name in [ServiceClasses.jobStatus, ServiceClasses.jobLock] { try await makeServiceClass(name) }
        }
        guard AccountClasses.isThere(ServiceClasses.jobLock, in: store.currentClasses.storedSchema) else { return next }
        let running = store.runningJobs.ids
        let names = scheduled.keys.sorted()
        let (lost, starts) = try await store.write(as: .master) { transaction in
            let now = max(now, transaction.now)
            let lost = try transaction.extendRuns(running, until: now.addingTimeInterval(Self.jobLease))
            try transaction.failAbandonedRuns(now)
            return (lost, try names.map { try transaction.lastStart(of: $0, now) })
        }
        store.runningJobs.cancel(lost)
        for (name, last) in zip(names, starts) {
            guard let job = scheduled[name], let schedule = job.schedule else { continue }
            let time = schedule.next(after: last)
            if time <= now {
                _ = try await begin(
                    JobStart(name: name, lock: name, source: "schedule", since: last), job, now: now)
                next = min(next, max(schedule.next(after: now), now.addingTimeInterval(1)))
            } else {
                next = min(next, time)
            }
        }
        return next
    }

    /// Cancels the runs of this process. Runs that don't end in time are recorded as failed.
    package func stopJobs() async {
        let running = store.runningJobs
        running.cancel()
        // The caller's task may be cancelled, too, so a separate task waits.
        await Task {
            let end = ContinuousClock.now + Self.jobGrace
            while !running.ids.isEmpty, ContinuousClock.now < end { try? await Task.sleep(for: .milliseconds(10)) }
        }.value
        let left = running.ids
        if left.isEmpty { return }
        await Task {
            do {
                try await store.write(as: .master) { transaction in
                    for id in left {
                        try transaction.endRun(id, ["status": "failed", "message": .string(ServiceClasses.stopped)])
                    }
                }
            } catch {
                options.code.report?(error)
            }
        }.value
    }
}
