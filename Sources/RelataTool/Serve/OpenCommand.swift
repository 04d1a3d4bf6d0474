#if CommandLineTool && Server
import ArgumentParser
import Foundation
import Logging
import RelataCore
import RelataEngine
import RelataEngines
import RelataParse
import RelataRecords
import RelataServer

/// `relata open FILE|URL`
struct OpenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open", abstract: "Shows a database in the dashboard, in a browser.",
        discussion: """
            Prints an address that signs in once, and serves the dashboard to this machine until the command is \
            stopped. The database is opened read-only. With --edit, the dashboard can change a file, which then gets a \
            write-ahead log and the tables of relata serve. PostgreSQL databases can only be viewed; to edit one that \
            Relata created, use relata serve postgres://….
            """)

    @OptionGroup var source: FileArgument
    @Option(help: "The port to listen on; 0 for any that is free.") var port = 0
    @Flag(help: "Let the dashboard change the file. Not for servers.") var edit = false

    func run() async throws {
        let location = try DatabaseLocation(source.file)
        if location.isServer, edit {
            throw ValidationError(
                "--edit is for files: the dashboard of relata serve edits a PostgreSQL database that Relata made")
        }
        // A file that isn't a database, or can't be read, is reported here, before anything is written to it.
        _ = try ToolDatabase(source.file)
        LoggingSystem.bootstrap { _ in
            var handler = TextLogHandler()
            handler.logLevel = .notice
            return handler
        }
        var configuration = RelataServer.Configuration()
        configuration.port = port
        configuration.metricsAudience = .nobody
        configuration.allowedOrigins = []
        let name = location.name
        configuration.dashboard = RelataServer.Dashboard(name: name, isReadOnly: !edit)
        var options = RecordStore.Options()
        options.isReadOnly = !edit
        options.durability = .full
        options.tableScope = .everywhere(including: [], callsFunctions: true)
        let store = try ParseStore.open(source.file, mode: .production, options: options)
        let server: RelataServer
        do {
            // The keys are secret: users sign in only with the token.
            let keys = ServerKeys(applicationID: ServerKeys.newKey(), clientKey: ServerKeys.newKey())
            server = try RelataServer(store, keys: keys, configuration: configuration)
        } catch {
            try? store.close()
            throw error
        }
        try await server.run { address in
            let token = server.makeDashboardToken().map { "#token=" + $0 } ?? ""
            print("Open \(address.dashboard)\(token)")
            print("The address signs in once. Ctrl-C stops showing \(DisplayText.visible(name)).")
            if !edit { print("It is read-only; --edit allows changes.") }
            fflush(nil)
        }
        print("stopped")
    }
}
#endif
