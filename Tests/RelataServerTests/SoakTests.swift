#if Server && CommandLineTool
import Foundation
import ServerClient
import Testing

/// A short form of `scripts/soak`.
struct SoakTests {
    @Test func nothingAcknowledgedIsLostWhenAServerIsStoppedAndKilledUnderLoad() async throws {
        let folder = try ServerFolder()
        var plan = Soak.Plan()
        plan.seconds = 5
        plan.clients = 16
        (plan.stops, plan.kills) = (1, 1)
        plan.restartingPart = 0.7
        let soak = plan
        let outcome = try await blocking {
            try Soak(soak, tool: try ServedTool.executable, folder: folder.url.path).run()
        }
        #expect(outcome.failures == [])
        #expect(outcome.requests > 100)
    }

    @Test func concurrentChangesOf64ClientsLoseNothing() async throws {
        let folder = try ServerFolder()
        var plan = Soak.Plan()
        plan.seconds = 4
        (plan.stops, plan.kills) = (0, 0)
        let soak = plan
        let outcome = try await blocking {
            try Soak(soak, tool: try ServedTool.executable, folder: folder.url.path).run()
        }
        #expect(outcome.failures == [])
        #expect(outcome.requestsSentAgain == 0)
    }
}

/// The tool, built together with the tests.
enum ServedTool {
    struct NotBuilt: Error {}

    static var executable: URL {
        get throws {
            let near = [URL(fileURLWithPath: CommandLine.arguments[0])] + Bundle.allBundles.map(\.bundleURL)
            let files = near.map { $0.deletingLastPathComponent().appendingPathComponent("relata") }
            guard let file = files.first(where: { FileManager.default.isExecutableFile(atPath: $0.path) }) else {
                throw NotBuilt()
            }
            return file
        }
    }
}
#endif
