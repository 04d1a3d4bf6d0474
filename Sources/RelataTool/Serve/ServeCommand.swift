#if CommandLineTool && Server
import ArgumentParser
import Foundation
import Logging
import Metrics
import RelataCore
import RelataParse
import RelataServer

/// `relata serve FILE`
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Serves a database to Parse's clients.",
        discussion: """
            Every table is a class, and clients can create classes by using them, unless --production is given. The \
            keys are created at the first start, and stored beside the file. Several processes can serve one \
            PostgreSQL database: give them the same keys.

            Every flag can also be given as an environment variable (RELATA_MAX_BODY for --max-body) or in a \
            configuration file: {"port": 8080, "max-body": "5M"}. Flags override environment variables, which override \
            the file.
            """)

    @Argument(
        help:
            "The SQLite file, created if it doesn't exist, or the URL of a PostgreSQL database. :memory: for none. (default: relata.sqlite)"
    )
    var file: String?
    @Option(help: "The address to listen on. (default: 127.0.0.1, which only this machine reaches)") var host: String?
    @Option(help: "The port to listen on; 0 for any that is free. (default: 1337)") var port: String?
    @Option(help: "The path of Parse's protocol. (default: /parse)") var mount: String?
    @Option(name: .customLong("public"), help: "A folder of files to serve at /.", completion: .directory)
    var publicFolder: String?
    @Option(
        help:
            "The folder for files that clients upload, or s3://BUCKET/PREFIX. (default: none, uploads are refused)",
        completion: .directory)
    var files: String?
    @Option(help: "The URL of the S3-compatible store. (default: Amazon's)") var s3Endpoint: String?
    @Option(help: "That store's region. (default: us-east-1)") var s3Region: String?
    @Option(help: "A PEM file with the trusted certificates for that store.", completion: .file())
    var s3Certificates: String?
    @Option(
        help:
            "Who may upload files without the master key: public, anonymous, users, separated by commas; empty for nobody. (default: users)"
    )
    var fileUploads: String?
    @Option(help: "The largest file that can be uploaded. (default: 20M)") var maxFile: String?
    @Option(help: "The accepted extensions of uploaded files, such as png,jpg. (default: all but the denied)")
    var fileExtensions: String?
    @Option(
        help: ArgumentHelp(
            "The denied extensions of uploaded files; empty for none. (default: \(FileOptions.active.sorted().joined(separator: ",")))"
        )
    )
    var deniedFileExtensions: String?
    @Option(help: "Types of files that browsers may display. (default: image/*,audio/*,video/*,text/plain)")
    var inlineFileTypes: String?
    @Option(
        help:
            "Seconds that the URL of a file is valid; only callers who may read its object get it. (default: for ever)"
    )
    var signedFiles: String?
    @Option(
        help:
            "Seconds before a file that no object refers to any more is deleted; empty for never. (default: 86400)"
    )
    var unusedFiles: String?
    @Option(
        name: .customLong("public-url"),
        help:
            "The protocol's URL for clients, such as https://example.com/parse; links in mails and URLs of files begin with it. Mails need it. (default: where the server listens)"
    )
    var publicURL: String?
    @Option(help: "The pages at /dashboard: on, read-only, off. (default: on)") var dashboard: String?
    @Option(help: "A file that records who changed what in the dashboard or with the master key.", completion: .file())
    var audit: String?
    @Option(help: "A configuration file.", completion: .file()) var config: String?
    @Flag(help: "Refuse classes and fields that don't exist, instead of creating them.") var production = false
    @Flag(help: "Let clients change the schema without the master key.") var development = false
    @Option(help: "The certificate of HTTPS, a PEM file.", completion: .file()) var tlsCertificate: String?
    @Option(help: "The certificate's private key, a PEM file.", completion: .file()) var tlsKey: String?
    @Option(help: "Origins of web pages that may call the server, separated by commas. (default: *)")
    var allowOrigin: String?
    @Option(help: "The largest body of a request. (default: 20M)") var maxBody: String?
    @Option(help: "The largest size of all bodies at once, at least --max-body. (default: 512M)") var maxBodies: String?
    @Option(help: "The largest body of a request without keys in its header fields. (default: 1M)")
    var maxBodyWithoutKeys: String?
    @Option(help: "The longest address of a request, with its parameters. (default: 64K)") var maxRequestLine: String?
    @Option(help: "How many requests a batch may hold. (default: as many as its body can hold)") var maxBatch: String?
    @Option(help: "The largest reply to a request. (default: 64M)") var maxReply: String?
    @Option(help: "The largest reply that is stored for repeated requests. (default: 1M)")
    var maxKeptReply: String?
    @Option(help: "The largest size of all stored replies above 256 bytes. (default: 64M)") var maxKeptReplies: String?
    @Option(help: "The largest number of open connections. (default: 16384)") var maxConnections: String?
    @Option(help: "The largest number of objects in the result of a query. (default: as many as it asks for)")
    var maxLimit: String?
    @Option(help: "Seconds that a connection stays open between requests. (default: 60)") var idleTimeout: String?
    @Option(help: "Seconds for receiving a request, and for sending a reply. (default: 30)")
    var transferTimeout: String?
    @Option(help: "Seconds for processing a request. (default: 60)") var requestTimeout: String?
    @Option(help: "Seconds for running requests to end when the server stops. (default: 10)")
    var stopTimeout: String?
    @Flag(name: .customLong("custom-object-ids"), help: "Let clients choose the ids of new objects.")
    var customObjectIDs = false
    @Option(
        help: ArgumentHelp(
            "Forbidden names of members of objects, separated by commas; empty for none. (default: \(ProhibitedNames.standard.joined(separator: ",")))"
        )
    )
    var prohibitedNames: String?
    @Flag(help: "Allow several fields of the type GeoPoint in a class.") var severalGeoPoints = false
    @Flag(help: "Refuse WebSockets for live queries.") var withoutLiveQueries = false
    @Option(help: "normal, or full: acknowledged writes survive a power cut, too. (default: normal)")
    var durability: String?
    @Option(help: "Who may read /metrics: loopback, everyone, nobody. (default: loopback)") var metrics: String?
    @Option(help: "trace, debug, info, notice, warning, error or critical. (default: info)") var logLevel: String?
    @Option(help: "text, or json: one JSON object per line. (default: text)") var logFormat: String?
    @Flag(help: "Log a line for each request.") var logRequests = false
    @Option(
        help:
            "A limit on requests, such as path=/functions/*,requests=100,seconds=60,by=user. May be given several times."
    )
    var rateLimit: [String] = []
    @OptionGroup(title: "Keys") var keys: KeyFlags
    @OptionGroup(title: "Users and mails") var accounts: AccountFlags
    @OptionGroup(title: "Signing in by other services") var signIn: SignInFlags
    @OptionGroup(title: "Webhooks") var webhooks: WebhookFlags
    @Flag(help: .hidden) var examples = false

    func run() async throws {
        let settings = try ServeSettings(
            flags: flags, environment: ProcessInfo.processInfo.environment, configurationFile: config)
        let plan = try ServePlan(settings, showsExamples: examples)
        try await plan.serve()
    }

    private var flags: [ServeSetting: String] {
        let options: [ServeSetting: String?] = [
            .file: file, .host: host, .port: port, .mount: mount, .publicFolder: publicFolder, .dashboard: dashboard,
            .audit: audit,
            .files: files, .fileUploads: fileUploads, .maxFile: maxFile, .fileExtensions: fileExtensions,
            .deniedFileExtensions: deniedFileExtensions, .inlineFileTypes: inlineFileTypes, .publicURL: publicURL,
            .unusedFiles: unusedFiles, .signedFiles: signedFiles, .s3Endpoint: s3Endpoint, .s3Region: s3Region,
            .s3Certificates: s3Certificates,
            .rateLimit: rateLimit.isEmpty ? nil : rateLimit.joined(separator: ","),
            .tlsCertificate: tlsCertificate, .tlsKey: tlsKey, .allowOrigin: allowOrigin,
            .maxBody: maxBody, .maxBodies: maxBodies, .maxBodyWithoutKeys: maxBodyWithoutKeys,
            .maxRequestLine: maxRequestLine, .maxBatch: maxBatch, .maxReply: maxReply, .maxKeptReply: maxKeptReply,
            .maxKeptReplies: maxKeptReplies, .maxConnections: maxConnections,
            .maxLimit: maxLimit, .prohibitedNames: prohibitedNames,
            .idleTimeout: idleTimeout,
            .transferTimeout: transferTimeout, .requestTimeout: requestTimeout, .stopTimeout: stopTimeout,
            .durability: durability, .metrics: metrics, .logLevel: logLevel, .logFormat: logFormat,
        ]
        let switches: [ServeSetting: Bool] = [
            .production: production, .development: development, .customObjectIDs: customObjectIDs,
            .severalGeoPoints: severalGeoPoints, .withoutLiveQueries: withoutLiveQueries, .logRequests: logRequests,
        ]
        return options.compactMapValues { $0 }.merging(switches.filter(\.value).mapValues { _ in "true" }) { $1 }
            .merging(keys.given) { $1 }.merging(accounts.given) { $1 }.merging(signIn.given) { $1 }
            .merging(webhooks.given) { $1 }
    }
}
#endif
