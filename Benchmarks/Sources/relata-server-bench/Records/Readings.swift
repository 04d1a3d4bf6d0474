#if Server
import BenchmarkReport
import Foundation
import RelataParse

/// The objects that live queries follow: readings of a thousand sensors. Each sensor has its own condition.
enum Readings {
    static let sensors = 1000

    /// A reading of the sensor whose turn it is.
    static func reading(_ number: Int) -> String {
        #"{"sensor": \#(number % sensors), "value": \#(number % 90 + 10), "place": "Hall \#(number % 17), by the door"}"#
    }

    /// New readings of one sensor after another.
    static let create = HTTPCall(
        method: "POST", paths: ["/parse/classes/Reading"], bodies: (0..<sensors).map(reading),
        headers: SampleLibrary.headers)

    /// The message with which a client identifies itself.
    static let connect =
        #"{"op": "connect", "applicationId": "\#(SampleLibrary.applicationID)", "clientKey": "\#(SampleLibrary.clientKey)"}"#

    /// The message that begins a live query for the readings of a sensor.
    static func subscribe(_ number: Int, to sensor: Int) -> String {
        let condition = #"{"sensor": \#(sensor % sensors), "value": {"$gte": 10, "$lt": 100}}"#
        let query = #"{"className": "Reading", "where": \#(condition)}"#
        return #"{"op": "subscribe", "requestId": \#(number), "query": \#(query)}"#
    }

    /// Takes the next message to a client.
    ///
    /// - Parameter operation: The expected operation.
    static func check(_ message: some StringProtocol, is operation: String) throws {
        guard message.contains("\"op\":\"\(operation)\"") else {
            throw Failure("the server didn't say \(operation): \(message)")
        }
    }
}

/// Clients of live queries over WebSockets.
struct Subscribers {
    let clients: [WebSocketClient]

    /// - Parameter sensors: The number of sensors that the clients follow, one each.
    init(_ count: Int, sensors: Int, port: Int) throws {
        clients = try (0..<count).map { number in
            let client = try WebSocketClient(port: port)
            try client.send(Readings.connect)
            try Readings.check(String(decoding: client.next(), as: UTF8.self), is: "connected")
            try client.send(Readings.subscribe(1, to: number % sensors))
            try Readings.check(String(decoding: client.next(), as: UTF8.self), is: "subscribed")
            return client
        }
    }
}

/// Clients of live queries in the server's own process: a thousand with ten queries each. Each condition is followed by ten
/// of them.
struct LiveClients: Sendable {
    static let queries = 10
    private let connections: [LiveQueryConnection]

    init(_ service: ParseService, count: Int) async throws {
        var connections: [LiveQueryConnection] = []
        for client in 0..<count {
            let connection = await service.connectLiveQueries()
            await connection.receive(Readings.connect)
            try Readings.check(await connection.next() ?? "", is: "connected")
            for number in 0..<Self.queries {
                await connection.receive(Readings.subscribe(number, to: client * Self.queries + number))
                try Readings.check(await connection.next() ?? "", is: "subscribed")
            }
            connections.append(connection)
        }
        self.connections = connections
    }

    /// The number of events for one new reading of each sensor.
    var eventsOfAllSensors: Int { connections.count * Self.queries }

    /// Waits until each client has got an event for each of its queries.
    func hearOfAllSensors() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for connection in connections {
                group.addTask {
                    for _ in 0..<Self.queries { try Readings.check(await connection.next() ?? "", is: "create") }
                }
            }
            try await group.waitForAll()
        }
    }

    /// Waits until the clients that follow the first sensor have got an event.
    func hearOfFirstSensor() async throws {
        for client in stride(from: 0, to: connections.count, by: Readings.sensors / Self.queries) {
            try Readings.check(await connections[client].next() ?? "", is: "create")
        }
    }

    /// Receives all further events. The process ends if a connection is closed.
    func takeEverything() {
        for connection in connections {
            Task {
                while await connection.next() != nil {}
                Report.say("a client of live queries was let go")
                exit(1)
            }
        }
    }
}

extension ParseService {
    /// Adds a reading.
    func add(_ number: Int) async throws {
        let reply = await respond(
            to: WireRequest(
                method: "POST", path: "/classes/Reading",
                headers: ["x-parse-application-id": SampleLibrary.applicationID],
                body: Array(Readings.reading(number).utf8)))
        guard reply.status == 201 else {
            throw Failure("no reading was added: \(String(decoding: reply.body, as: UTF8.self))")
        }
    }
}
#endif
