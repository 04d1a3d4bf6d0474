#if CommandLineTool && Server
import ArgumentParser
import Foundation
import Logging
import RelataCore
import RelataEngine
import RelataEngines
import RelataParse
import RelataServer

/// `relata open FILE`
struct OpenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open", abstract: "Shows a file in the dashboard, in a browser.",
        discussion: """
            Prints an address that signs in once, and serves the dashboard to this machine until it is stopped. The \
            file is only read and stays as it is, unless --edit is given: then it can be changed, and gets a \
            write-ahead log and the tables that relata serve keeps.
            """)

    @OptionGroup var source: FileArgument
    @Option(help: "The port to listen on; 0 for any that is free.") var port = 0
    @Flag(help: "Let the dashboard change the file.") var edit = false

    func run() async throws {
        if try DatabaseLocation(source.file).isServer {
            throw ValidationError("the dashboard shows SQLite files; databases of PostgreSQL come later")
        }
        // A file that is no database, or can't be read, is told here, before anything of it could be written.
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
        let name = URL(fileURLWithPath: source.file).lastPathComponent
        configuration.dashboard = RelataServer.Dashboard(name: name, isReadOnly: !edit)
        let store = try ParseStore.open(source.file, mode: .production, isReadOnly: !edit, durability: .full)
        let server: RelataServer
        do {
            // Nobody has its keys: only the token signs in.
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
            if !edit { print("It is only read; with --edit it can be changed.") }
            fflush(nil)
        }
        print("stopped")
    }
}
#endif
