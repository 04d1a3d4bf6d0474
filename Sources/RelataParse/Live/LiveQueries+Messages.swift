import RelataCore

// The messages to clients.
extension LiveQueries {
    /// Sends a message.
    func send(_ message: String, to client: UInt64) {
        // If the outbox is closed, the client is removed once its socket ends.
        clients[client]?.outbox.append(message)
    }

    /// A message that isn't an event.
    func message(_ operation: String, _ members: JSONObject, to client: UInt64) -> String {
        var message: JSONObject = ["op": .string(operation), "clientId": .string(String(client, radix: 36))]
        for (name, value) in members { message[name] = value }
        return JSONWriter.text(.object(message))
    }

    /// Sends the events of a query, or keeps them for the app's hooks.
    func tell(_ told: LiveNews.OfQuery, to id: LiveQueryID) {
        if told.mask != nil || held[id] != nil { return hold(told, of: id) }
        for (event, ending) in zip(told.events, told.endings) {
            guard send(event.kind, ending, to: id) else { return }
        }
    }

    /// Sends an event.
    ///
    /// - Parameter ending: The message's end, of ``LiveNews/ending(_:_:)``.
    /// - Returns: Whether the client accepts further ones.
    @discardableResult
    func send(_ kind: LiveEvent.Kind, _ ending: String, to id: LiveQueryID) -> Bool {
        guard let outbox = clients[id.client]?.outbox else { return false }
        var message = "{\"op\":\"" + kind.rawValue
        message.reserveCapacity(ending.utf8.count + 80)
        message += "\",\"clientId\":\"" + String(id.client, radix: 36)
        message += "\",\"requestId\":" + String(id.requestID)
        message += ending
        return outbox.append(message)
    }
}
