import RelataEngine
import RelataParse
import RelataRecords
import TestEngines
import Testing

/// The approximate numbers of objects.
@Suite(.onEveryEngine) struct EstimateTests {
    private func estimates(_ server: TestServer) async throws -> JSONValue {
        let reply = await server.service.inspection("/estimates", query: "") { Issue.record($0) }
        return try JSONParser.parse(try #require(reply).body)
    }

    @Test func theDatabasesStatisticsEstimateTheNumbersOfObjects() async throws {
        let server = try TestServer()
        for number in Int64(0)..<30 { try await server.save("Track", ["number": .integer(number)]) }
        try await server.save("Album", ["title": "One"])
        try server.store.records.pool.withWriter { try $0.gatherStatistics(of: ["\"Track\""]) }
        #expect(try await estimates(server)["Track"] == 30)
        try await server.save("Track", ["number": 30])
        // Nothing is counted.
        #expect(try await estimates(server)["Track"] == 30)
    }

    @Test(.onSQLite) func aDatabaseWithoutStatisticsHasNoEstimates() async throws {
        let server = try TestServer()
        try await server.save("Track", ["number": 1])
        #expect(try await estimates(server) == [:])
    }

    @Test func othersThanTheMasterKeyGetNone() async throws {
        let server = try TestServer()
        #expect(await server.service.inspection("/estimates", query: "", as: .nobody) { Issue.record($0) } == nil)
    }
}
