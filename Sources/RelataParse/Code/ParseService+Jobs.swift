import Foundation
import RelataCore
import RelataEngine

extension ParseService {
    /// For how many seconds a run is taken for one that goes on, since its process said so last.
    static let jobLease = 60.0
    /// After how many seconds a process says so again, and looks for runs whose processes don't.
    private static let jobRound = 15.0
    /// How long runs have to end when the server stops.
    private static let jobGrace = Duration.seconds(3)

    /// Answers a request for a job, `/jobs/NAME`: it begins, and the reply says where its status is kept.
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
            throw ParseError(.operationForbidden, "the job \(name) is running: it isn't run twice at once", status: 409)
        }
        var reply = WireReply([:])
        reply.headers["x-parse-job-status-id"] = id
        return reply
    }

    /// Answers what jobs there are, as `/cloud_code/jobs/data`.
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
    /// - Returns: The id of its status; `nil` where it may not begin now, because the job runs or, of one that is run by
    ///   itself, because its time hasn't come.
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
        // A run that was told to end isn't told again while it says what became of it.
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

    /// Begins the jobs whose time has come, says that the runs of this process go on, and tells those as failed whose
    /// processes don't say so any more.
    ///
    /// - Returns: When it is to be called again, at the latest.
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

    /// Ends the runs of this process. Those that don't end in time are told as failed all the same.
    package func stopJobs() async {
        let running = store.runningJobs
        running.cancel()
        // Whoever asks for it may have been told to end itself.
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
