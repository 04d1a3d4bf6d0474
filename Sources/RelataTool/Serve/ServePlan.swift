#if CommandLineTool && Server
import ArgumentParser
import Foundation
import Logging
import Metrics
import RelataCore
import RelataParse
import RelataServer
import RelataEngine
import RelataEngines

/// The configuration of `relata serve`, read from its settings.
struct ServePlan {
    private enum LogFormat: String, CaseIterable { case text, json }
    private enum DashboardMode: String, CaseIterable {
        case on, off
        case readOnly = "read-only"
    }
    private enum DurabilityName: String, CaseIterable { case normal, full }

    /// `nil` for a store in memory.
    private let path: String?
    private let location: DatabaseLocation
    private let isProduction: Bool
    private let durability: Durability
    private let keysPath: String?
    private let givenKeys: KeyFile.Given
    private let oldKeyTime: Double
    private let logLevel: Logger.Level
    private let logFormat: LogFormat
    private let publicFolder: PublicFolder?
    private let showsExamples: Bool
    private var configuration = RelataServer.Configuration()
    private var options = ParseService.Options()

    /// - Throws: `ValidationError` that names an invalid setting.
    init(_ settings: ServeSettings, showsExamples: Bool) throws {
        self.showsExamples = showsExamples
        let file = settings.text(.file) ?? "relata.sqlite"
        path = file == ":memory:" ? nil : file
        location = try DatabaseLocation(path)
        keysPath = settings.text(.keys) ?? location.companionPath.map { $0 + ".keys" }
        givenKeys = try settings.givenKeys()
        oldKeyTime = try settings.lifetime(.oldKeyTime) ?? 600
        guard (0...7 * 86_400).contains(oldKeyTime) else {
            throw ValidationError("--old-key-time must be 0 to 7 days")
        }
        isProduction = try settings.isOn(.production)
        let isDevelopment = try settings.isOn(.development)
        if isProduction && isDevelopment { throw ValidationError("--production and --development exclude each other") }
        durability = try settings.choice(.durability) == DurabilityName.full ? .full : .normal
        logLevel = try settings.choice(.logLevel) ?? .info
        logFormat = try settings.choice(.logFormat) ?? .text
        configuration.requestLogLevel = try settings.isOn(.logRequests) ? .info : .debug
        options.needsMasterKeyForSchemas = !isDevelopment
        try settings.setAccounts(of: &options, name: location.name)
        options.webhooks = try settings.webhooks()
        publicFolder = settings.text(.publicFolder).map(PublicFolder.init)
        let dashboard: DashboardMode = try settings.choice(.dashboard) ?? .on
        if dashboard != .off {
            configuration.dashboard = RelataServer.Dashboard(
                name: location.name, isReadOnly: dashboard == .readOnly, auditFile: settings.text(.audit))
        }
        try set(settings)
        options.files = try ServedFiles(settings)?.options
        if let publicFolder {
            let secrets = [
                location.file, keysPath, settings.configurationFile, configuration.tls?.key, settings.text(.audit),
                // Uploaded files are served only under their exact names.
                settings.text(.files).flatMap { $0.hasPrefix("s3://") ? nil : $0 + "/content" },
            ]
            try publicFolder.check(besides: secrets.compactMap(\.self))
            configuration.files["/"] = try StaticFiles(folder: publicFolder.path)
        }
    }

    private mutating func set(_ settings: ServeSettings) throws {
        if let host = settings.text(.host) { configuration.host = host }
        if let port = try settings.integer(.port) { configuration.port = port }
        if let proxies = try settings.addresses(.trustedProxies) {
            configuration.trustedProxies = proxies
        }
        if let mount = settings.text(.mount) { configuration.mount = mount }
        switch (settings.text(.tlsCertificate), settings.text(.tlsKey)) {
        case (let certificate?, let key?): configuration.tls = .init(certificate: certificate, key: key)
        case (nil, nil): break
        default: throw ValidationError("--tls-certificate and --tls-key belong together")
        }
        if let origins = settings.list(.allowOrigin) { configuration.allowedOrigins = origins }
        try setBodies(settings)
        if let size = try settings.bytes(.maxReply) { options.maximumReply = size }
        if let size = try settings.bytes(.maxBodyWithoutKeys) { options.maximumBodyWithoutKeys = size }
        if let size = try settings.bytes(.maxKeptReply) {
            options.maximumKeptReply = size
            options.maximumKeptReplies = max(options.maximumKeptReplies, size)
        }
        if let size = try settings.bytes(.maxKeptReplies) { options.maximumKeptReplies = size }
        if let count = try settings.integer(.maxBatch) { options.maximumBatch = count }
        if let size = try settings.bytes(.maxRequestLine) { configuration.limits.requestLineSize = size }
        if let count = try settings.integer(.maxConnections) { configuration.limits.connections = count }
        if let time = try settings.seconds(.idleTimeout) { configuration.limits.idleTime = time }
        if let time = try settings.seconds(.transferTimeout) { configuration.limits.transferTime = time }
        if let time = try settings.seconds(.requestTimeout) { configuration.limits.requestTime = time }
        if let time = try settings.seconds(.stopTimeout) { configuration.stopTimeout = time }
        if let audience: RelataServer.MetricsAudience = try settings.choice(.metrics) {
            configuration.metricsAudience = audience
        }
        options.rateLimits = try settings.rateLimits()
        options.maximumLimit = try settings.integer(.maxLimit)
        options.allowsCustomObjectIDs = try settings.isOn(.customObjectIDs)
        options.allowsSeveralGeoPoints = try settings.isOn(.severalGeoPoints)
        options.allowsLiveQueries = try !settings.isOn(.withoutLiveQueries)
        if let names = settings.list(.prohibitedNames) {
            options.prohibitedNames = ProhibitedNames(names)
        }
    }

    private mutating func setBodies(_ settings: ServeSettings) throws {
        if let size = try settings.bytes(.maxBody) { configuration.limits.bodySize = size }
        let size = configuration.limits.bodySize
        guard let total = try settings.bytes(.maxBodies) else {
            // The largest body always fits, even if only its limit is set.
            configuration.limits.totalBodySize = max(configuration.limits.totalBodySize, size)
            return
        }
        guard total >= size else {
            throw ValidationError("--max-bodies must be at least --max-body, which is \(size)")
        }
        configuration.limits.totalBodySize = total
    }

    // MARK: Serving

    func serve() async throws {
        let metrics = PrometheusMetrics()
        MetricsSystem.bootstrap(metrics)
        LoggingSystem.bootstrap { [logFormat, logLevel] label in
            var handler: any LogHandler =
                logFormat == .json
                ? JSONLogHandler(label: label) : TextLogHandler()
            handler.logLevel = logLevel
            return handler
        }
        let store = try ParseStore.open(path, mode: isProduction ? .production : .development, durability: durability)
        let keyFile: KeyFile
        let server: RelataServer
        do {
            keyFile = try KeyFile(keysPath, given: givenKeys)
            server = try RelataServer(
                store, keys: keyFile.keys, options: options, configuration: configuration, metrics: metrics)
        } catch {
            try? store.close()
            throw error
        }
        let following = keysPath.map { path in
            Task { [givenKeys, oldKeyTime] in
                await server.followKeys(
                    in: path, given: givenKeys, since: keyFile, overlap: .seconds(oldKeyTime))
            }
        }
        defer { following?.cancel() }
        // Many servers reload their files at SIGHUP; this one reloads them without it. In a terminal, the signal must
        // end the server when the terminal is closed.
        if isatty(STDIN_FILENO) == 0 { signal(SIGHUP, SIG_IGN) }
        try await server.run { address in
            let token = showsExamples ? server.makeDashboardToken() : nil
            for line in lines(address, keyFile, token: token) { print(line) }
            // The program that started the server may be waiting for the address at the other end of a pipe.
            fflush(nil)
        }
        print("stopped")
    }

    /// - Parameter token: A token that signs in to the dashboard; `nil` if the output may be logged.
    private func lines(_ address: ServerAddress, _ keyFile: KeyFile, token: String?) -> [String] {
        let name = location.isMemory ? "a store in memory" : DisplayText.visible(location.file ?? location.name)
        var lines: [String] = []
        if let token { lines += ["Open \(address.dashboard)#token=\(token)", ""] }
        lines.append("\(name) is served at \(address.url)")
        if token == nil, configuration.dashboard != nil {
            lines.append("The dashboard is at \(address.dashboard), for those who have the master key")
        }
        if let publicFolder {
            lines.append("The files of \(DisplayText.visible(publicFolder.path)) are at \(address.origin)/")
        }
        lines.append("  application id  \(keyFile.keys.applicationID)")
        lines.append("  client key      \(keyFile.keys.clientKey ?? "none: clients need none")")
        if let key = keyFile.newMasterKey {
            lines.append("  master key      \(key)")
            if let keysPath {
                lines.append("The master key is shown only once; \(keysPath) keeps its hash, and the other keys.")
            }
        } else if givenKeys.masterKey?.isEmpty == false {
            lines.append("  master key      as given")
        } else if keyFile.keys.masterKey != nil {
            lines.append("  master key      shown once, when \(keysPath ?? "") was made")
        } else {
            lines.append("  master key      none")
        }
        lines.append(
            isProduction ? "Clients can't create classes or fields." : "Classes and fields are created on first use.")
        if showsExamples, let path, let database = try? ToolDatabase(path),
            let examples = try? ServeExamples(database).lines(address, keyFile.keys), !examples.isEmpty
        {
            lines +=
                ["", "Try it in another terminal:"] + examples.map { "  " + $0 } + ["", "Ctrl-C stops the server."]
        }
        return lines
    }
}
#endif
